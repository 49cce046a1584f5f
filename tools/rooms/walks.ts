/** A call that `npm run rooms` measures. */
export interface Walk<World> {
  /** The files and functions that it may enter, beside the call itself. None: it is measured without a bar. */
  readonly bar?: readonly [files: number, functions: number]
  /** The call, until its last effect. */
  readonly run: (world: World) => Promise<unknown>
}

/** Walks by name, and what they need. */
export interface Walks<World> {
  readonly open: () => Promise<World>
  readonly walks: Readonly<Record<string, Walk<World>>>
}
