/** How long something can be undone: a toast offers it meanwhile. */
export const UNDO_MS = 10_000
