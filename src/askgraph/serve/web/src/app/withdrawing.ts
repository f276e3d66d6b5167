// Who may withdraw a verified answer: whoever confirmed it, and administrators.

import type { Verified } from "../api/verified.ts";
import { may } from "./known.ts";

export function mayWithdraw(one: Verified): boolean {
  return may("confirm") && (one.mine || may("admin"));
}
