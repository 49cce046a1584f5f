/** A call that `npm run rooms` measures. */
export interface Walk<World> {
  /** The files and functions that the walk may enter. None: it is measured without a bar. */
  readonly bar?: readonly [files: number, functions: number]
  /** Runs the walk to its last effect, in the world of `open`. */
  readonly run: (world: World) => Promise<unknown>
}

/** Walks by name, and what they need. */
export interface Walks<World> {
  readonly open: () => Promise<World>
  readonly walks: Readonly<Record<string, Walk<World>>>
}
