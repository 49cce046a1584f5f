/** A store: a state that something outside changes, and calls when it has. Each framework shows one in its own way. */
import { tellListener } from 'pannier/internal'

/** A state that a component shows. */
export interface Store<State> {
  /** The state now: the same object until something in it changes. */
  readonly read: () => State
  /** Calls back when the state is another one. The first listener begins it, and the end of the last one ends it. */
  readonly subscribe: (listener: () => void) => () => void
}

/** Shows another state. One that says the same changes nothing. */
type Show<State> = (state: State) => void

/** A store, and its owner's way to change it. */
interface OwnStore<State> extends Store<State> {
  readonly show: Show<State>
}

/**
 * `begin` listens for changes and calls `show`, which does nothing after the end. It returns the function that ends that. Listeners hear of
 * these changes once a frame, as a page shows no more. Without `begin` they hear of each at once, as a person types.
 */
export function storeOf<State>(state: State, begin?: (show: Show<State>) => (() => void) | undefined): OwnStore<State> {
  const listeners = new Set<() => void>()
  let stop: (() => void) | undefined
  /** The time from the first listener to the end of the last one. */
  let run: object | undefined
  /** The state that listeners have heard of. */
  let told = state
  let isWaiting = false
  const tell = (): void => {
    const hasFrames = begin !== undefined && globalThis.document?.hidden === false
    if (hasFrames && isWaiting) return
    told = state
    listeners.forEach(tellListener)
    if (!hasFrames || isWaiting) return
    isWaiting = true
    requestAnimationFrame(() => {
      isWaiting = false
      if (told !== state) tell()
    })
  }
  const show: Show<State> = (next) => {
    if (saysSame(next, state)) return
    state = next
    tell()
  }
  return {
    show,
    read: () => state,
    subscribe(listener) {
      // A function of its own, so that one listener that subscribes twice is two.
      const own = (): void => listener()
      if (listeners.add(own).size === 1) {
        run = own
        stop = begin?.((next) => {
          if (run === own) show(next)
        })
      }
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        run = undefined
        stop?.()
      }
    },
  }
}

/** A list without rows: always the same, so that it makes no render. */
export const NONE: readonly never[] = Object.freeze([])

/** A value, or a function that reads it: a signal, an accessor, a getter. */
export type Given<Value> = Value | (() => Value)

/** The value that is given. */
export function given<Value extends object | string | undefined>(value: Given<Value>): Value {
  return typeof value === 'function' ? value() : value
}

/** Each part of a state, made by `make`. */
export function partsOf<State extends object, Made>(
  state: State,
  make: (name: keyof State & string) => Made,
): Record<keyof State & string, Made> {
  return Object.fromEntries(Object.keys(state).map((name) => [name, make(name as keyof State & string)])) as never
}

/** An object whose parts are read when they are asked for. */
export function viewOf<State extends object>(read: () => State): State {
  const get = (name: keyof State): object => ({ enumerable: true, get: () => read()[name] })
  return Object.defineProperties({}, partsOf(read(), get) as PropertyDescriptorMap) as State
}

/** A store, and the inputs that it is of. */
export type Kept<Of extends Store<unknown>> = Of & { readonly inputs: readonly unknown[] }

/** The store of these inputs: `before`, if that is of the same ones. */
export function keptFor<Of extends Store<unknown>, Inputs extends readonly unknown[]>(
  before: Kept<Of> | undefined,
  inputs: readonly [...Inputs],
  make: (...inputs: NoInfer<Inputs>) => Of,
): Kept<Of> {
  if (before?.inputs.every((input, index) => input === inputs[index])) return before
  return { ...make(...inputs), inputs }
}

/** Runs `work`. What is asked for meanwhile is one run more, behind it. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let running = false
  let isStale = false
  const run = async (): Promise<void> => {
    isStale = true
    if (running) return
    running = true
    try {
      while (isStale) {
        isStale = false
        await work()
      }
    } finally {
      running = false
    }
  }
  return () => void run()
}

/** Whether two states have the same parts. */
function saysSame(left: unknown, right: unknown): boolean {
  if (!hasParts(left) || !hasParts(right)) return left === right
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

function hasParts(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object(value) === value
}
