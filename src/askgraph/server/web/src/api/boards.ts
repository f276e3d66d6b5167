// Boards: pinned answers, their order, and what changed since they were seen.

import { language } from "../i18n/index.ts";
import { get, ofGraph, patch, post, remove, withQuery } from "./http.ts";
import type {
  AnswerDisplay,
  BoardsView,
  BoardView,
  GraphBoardView,
  PinChangeBody,
} from "./types.ts";

const path = (id: string, rest = "") => `/boards/${encodeURIComponent(id)}${rest}`;

export const boards = async () => (await get<BoardsView>("/boards")).boards;
export const newBoard = (title: string) => post<BoardView>("/boards", { title });

/** The board made of a graph; null: of the sample graph, which was not added. */
export const boardOfGraph = (graph: string | null, signal: AbortSignal) => {
  const path = graph === null ? "/sample/board" : ofGraph(graph, "/board");
  return get<GraphBoardView>(withQuery(path, { language: language.value }), signal);
};
export const keepBoard = (title: string, graph: string) =>
  post<BoardView>("/boards", { title, graph, language: language.value });
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
