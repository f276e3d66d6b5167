// Boards: pinned answers, their order, and what changed since they were seen.

import type * as api from "../../build/api.ts";
import { get, post, remove, request } from "./http.ts";

export type Board = api.BoardView;
export type BoardSummary = api.BoardSummary;
export type Changes = api.ChangesView;
export type Pin = api.PinView;
export type Shown = api.Shown;

const path = (id: string, rest = "") => `/boards/${encodeURIComponent(id)}${rest}`;
const patch = async (where: string, body: unknown) =>
  (await (await request("PATCH", where, body)).json()) as Board;

export const boards = async () => (await get<api.BoardsView>("/boards")).boards;
export const newBoard = (title: string) => post<Board>("/boards", { title });
export const boardOf = (id: string) => get<Board>(path(id));
export const refresh = (id: string, options: { signal: AbortSignal }) =>
  post<Board>(path(id, "/refresh"), {}, options);
export const seen = (id: string) => post<Board>(path(id, "/seen"), {});
export const shareBoard = (id: string, shared: boolean) =>
  post<Board>(path(id, "/share"), { shared });
export const renameBoard = (id: string, title: string) => patch(path(id), { title });
export const deleteBoard = (id: string) => remove(path(id));
export const pinTo = (board: string, run: string, shown: Shown) =>
  post<Board>(path(board, "/pins"), { run, shown });
export const changePin = (board: string, pin: string, change: api.PinChange) =>
  patch(path(board, `/pins/${pin}`), change);
export const unpin = (board: string, pin: string) => remove(path(board, `/pins/${pin}`));
