// Boards: pinned answers, their order, and what changed since they were seen.

import { get, patch, post, remove } from "./http.ts";
import type { AnswerDisplay, BoardsView, BoardView, PinChangeBody } from "./types.ts";

const path = (id: string, rest = "") => `/boards/${encodeURIComponent(id)}${rest}`;

export const boards = async () => (await get<BoardsView>("/boards")).boards;
export const newBoard = (title: string) => post<BoardView>("/boards", { title });
export const boardOf = (id: string) => get<BoardView>(path(id));
export const refresh = (id: string, signal: AbortSignal) =>
  post<BoardView>(path(id, "/refresh"), {}, signal);
export const seen = (id: string) => post<BoardView>(path(id, "/seen"));
export const shareBoard = (id: string, shared: boolean) =>
  post<BoardView>(path(id, "/share"), { shared });
export const renameBoard = (id: string, title: string) => patch<BoardView>(path(id), { title });
export const deleteBoard = (id: string) => remove(path(id));
export const pinTo = (board: string, run: string, shown: AnswerDisplay) =>
  post<BoardView>(path(board, "/pins"), { run, shown });
export const changePin = (board: string, pin: string, change: PinChangeBody) =>
  patch<BoardView>(path(board, `/pins/${pin}`), change);
export const unpin = (board: string, pin: string) => remove(path(board, `/pins/${pin}`));
