/**
 * Operations of clients at several servers, and whether one database could have answered so.
 *
 * A register is a list. A write adds its token to the end of one or more registers, in one commit. Each read gives a whole list. So the
 * lists at the end tell the order of all writes, and each operation is checked against that order and against the clock:
 *
 * - a write that was acknowledged is there, once; one that was refused is not; one of unknown outcome may be;
 * - a write comes after all that was known before it began: writes are linearizable;
 * - a read gives a state that there was. A fresh one has all that was known before it began; one from a cache has all that its own server
 *   had answered before.
 */

export interface Operation {
  /** The server that was asked. */
  readonly server: string
  /** By the one clock of all operations. */
  readonly startMs: number
  /** Infinity: it has not ended. */
  readonly endMs: number
  /** 'refused': it has changed nothing. 'unknown': whether it has happened nobody has said. */
  readonly outcome: 'done' | 'refused' | 'unknown'
  /** Undefined for a read. No two writes have the same token. */
  readonly write?: { readonly token: string; readonly registers: readonly string[] }
  /** A read that must have all that any server has acknowledged before. */
  readonly isFresh?: boolean
  /** The lists that it has found, with its own token if it has written. */
  readonly found?: Lists
}

export type Lists = Readonly<Record<string, readonly string[]>>

/** The state after the last operation. */
export interface End {
  readonly lists: Lists
  /** The newest sequence number, and how many commits that were no writes of the history came before: made registers, for example. */
  readonly sequence?: { readonly newest: number; readonly others: number }
}

export type ViolationKind =
  /** An acknowledged write is not there. */
  | 'lost'
  /** A write was done more than once. */
  | 'twice'
  /** A token is there, or was found, that nobody has written, or whose write was refused, or had not begun. */
  | 'phantom'
  /** A write of several registers is in some of them only. */
  | 'torn'
  /** Somebody has found a list that is no beginning of the list at the end. */
  | 'fork'
  /** A write comes before something that was known when it began. */
  | 'order'
  /** A read misses a write that it must have: any earlier one if it is fresh, those of its server if not. */
  | 'stale'
  /** A server's reads went back. */
  | 'backward'
  /** Sequence numbers are missing, or given twice. */
  | 'hole'

export interface Violation {
  readonly kind: ViolationKind
  readonly text: string
}

/** Empty where one database could have answered so. */
export function violationsOf(operations: readonly Operation[], end: End): readonly Violation[] {
  const byRegister = new Map<string, Operation[]>(Object.keys(end.lists).map((name) => [name, []]))
  for (const operation of operations)
    for (const name of new Set([...(operation.write?.registers ?? []), ...Object.keys(operation.found ?? {})])) {
      const found = byRegister.get(name)
      if (found === undefined) byRegister.set(name, [operation])
      else found.push(operation)
    }
  const violations = [...byRegister].flatMap(([name, some]) =>
    new Register(name, some, end.lists[name] ?? []).violations(),
  )
  return [...violations, ...tornWrites(operations, end), ...holes(end)]
}

/**
 * For storages that may lose what was acknowledged, as asynchronous standbys do: the operations that have seen or acknowledged what is
 * gone, and all others. The others are to be right. The servers of the first are to know that something is gone.
 */
export function splitByLoss(
  operations: readonly Operation[],
  { lists }: End,
): { gone: Operation[]; kept: Operation[] } {
  const there = new Map(Object.entries(lists).map(([name, list]) => [name, new Set(list)]))
  const isGone = ({ outcome, write, found = {} }: Operation): boolean =>
    outcome === 'done' &&
    (write?.registers.some((name) => there.get(name)?.has(write.token) !== true) === true ||
      Object.entries(found).some(([name, list]) => list.some((token) => there.get(name)?.has(token) !== true)))
  return { gone: operations.filter(isGone), kept: operations.filter((operation) => !isGone(operation)) }
}

/** Operations as they come. Several processes may each have one, and give what it notes to that of their parent. */
export class History {
  readonly #operations = new Map<string, Operation>()
  readonly #listener: (note: Note) => void

  constructor(listener: (note: Note) => void = () => {}) {
    this.#listener = listener
  }

  get operations(): readonly Operation[] {
    return [...this.#operations.values()]
  }

  /** Writes that were acknowledged so far. */
  get acknowledged(): number {
    return this.operations.filter(({ write, outcome }) => write !== undefined && outcome === 'done').length
  }

  /** Call the result when the operation ends. One that has no end has an unknown outcome. */
  begin(
    operation: Pick<Operation, 'server' | 'write' | 'isFresh'>,
  ): (ended: Pick<Operation, 'outcome' | 'found'>) => void {
    const id = `${operation.server} ${process.pid} ${this.#operations.size}`
    const begun: Operation = { ...operation, startMs: clockMs(), endMs: Infinity, outcome: 'unknown' }
    this.note([id, begun])
    return ({ outcome, found }) => {
      const endMs = outcome === 'unknown' ? Infinity : clockMs()
      this.note([id, { ...begun, outcome, endMs, ...(found !== undefined && { found }) }])
    }
  }

  note(note: Note): void {
    const [id, operation] = note
    // JSON has no Infinity.
    this.#operations.set(id, { ...operation, endMs: operation.endMs ?? Infinity })
    this.#listener(note)
  }
}

/** An operation and its id. The last note of an id holds. May be sent as JSON. */
export type Note = readonly [id: string, operation: Operation]

/** Milliseconds of the one clock of this machine. It never goes back. */
export function clockMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/** A lower bound for one register by an operation: there were at least `count` tokens when it ended. */
interface Sight {
  readonly operation: Operation
  readonly count: number
}

class Register {
  readonly #name: string
  readonly #operations: readonly Operation[]
  readonly #list: readonly string[]
  readonly #places: ReadonlyMap<string, number>
  readonly #writes: ReadonlyMap<string, Operation>
  readonly #violations: Violation[] = []

  /** `operations`: those of this register. */
  constructor(name: string, operations: readonly Operation[], list: readonly string[]) {
    this.#name = name
    this.#operations = operations
    this.#list = list
    this.#places = new Map(list.map((token, at) => [token, at]))
    this.#writes = new Map(
      this.#operations.flatMap((operation) =>
        operation.write?.registers.includes(name) ? [[operation.write.token, operation]] : [],
      ),
    )
  }

  violations(): readonly Violation[] {
    this.#checkTokens()
    for (const operation of this.#operations) this.#checkFound(operation)
    this.#checkTimes()
    return this.#violations
  }

  #add(kind: ViolationKind, text: string): void {
    this.#violations.push({ kind, text: `${this.#name}: ${text}` })
  }

  #checkTokens(): void {
    for (const [at, token] of this.#list.entries()) {
      if (this.#places.get(token) !== at) this.#add('twice', `${token} is there more than once`)
      this.#checkWritten(token, 'is there at the end')
    }
    for (const [token, { outcome, server }] of this.#writes)
      if (outcome === 'done' && !this.#places.has(token)) this.#add('lost', `${token}, acknowledged by ${server}`)
  }

  #checkWritten(token: string, what: string): void {
    const write = this.#writes.get(token)
    if (write === undefined) this.#add('phantom', `${token} ${what}, and nobody has written it`)
    else if (write.outcome === 'refused') this.#add('phantom', `${token} ${what}, and ${write.server} has refused it`)
  }

  #checkFound({ found, server, endMs, write }: Operation): void {
    const list = found?.[this.#name]
    if (list === undefined) return
    const differs = list.findIndex((token, at) => token !== this.#list[at])
    if (differs !== -1)
      this.#add('fork', `${server} has given ${list[differs]} at place ${differs}, where ${this.#list[differs]} is`)
    if (write?.registers.includes(this.#name) && list.at(-1) !== write.token)
      this.#add('fork', `${server} has acknowledged ${write.token}, and it was not the last one`)
    for (const token of list) {
      if (!this.#places.has(token)) this.#checkWritten(token, `was given by ${server}`)
      if ((this.#writes.get(token)?.startMs ?? 0) > endMs)
        this.#add('phantom', `${token} was given by ${server} before its write began`)
    }
  }

  /** Each operation, against the most that was known before it began. */
  #checkTimes(): void {
    const sights = this.#operations.flatMap((operation) => this.#sightOf(operation) ?? [])
    const byEnd = sights.toSorted((a, b) => a.operation.endMs - b.operation.endMs)
    const known = new Known()
    let next = 0
    for (const operation of this.#operations.toSorted((a, b) => a.startMs - b.startMs)) {
      for (; next < byEnd.length && byEnd[next]!.operation.endMs < operation.startMs; next++) known.learn(byEnd[next]!)
      this.#checkTime(operation, known)
    }
  }

  /** The place of an acknowledged write, or the length of what was found. */
  #sightOf(operation: Operation): Sight | undefined {
    if (operation.outcome !== 'done') return undefined
    const place = operation.write && this.#places.get(operation.write.token)
    const count = Math.max(operation.found?.[this.#name]?.length ?? 0, place === undefined ? 0 : place + 1)
    return { operation, count }
  }

  #checkTime(operation: Operation, known: Known): void {
    const { write, found, server, isFresh = false } = operation
    if (write !== undefined) {
      const place = this.#places.get(write.token)
      if (place !== undefined && place < known.count)
        this.#add('order', `${write.token} has place ${place}, and ${known.count} were known before it began`)
      return
    }
    const count = found?.[this.#name]?.length
    if (count === undefined) return
    const [written, read] = known.of(server)
    const must = isFresh ? known.count : written
    if (count < must) this.#add('stale', `${server} has given ${count}, and ${must} were there`)
    else if (count < read) this.#add('backward', `${server} has given ${count}, and ${read} before`)
  }
}

/** How many tokens of a register were known at a time: at all, and by what each server had answered. */
class Known {
  count = 0
  readonly #written = new Map<string, number>()
  readonly #read = new Map<string, number>()

  learn({ operation: { server, write }, count }: Sight): void {
    this.count = Math.max(this.count, count)
    const counts = write === undefined ? this.#read : this.#written
    counts.set(server, Math.max(counts.get(server) ?? 0, count))
  }

  /** By its acknowledged writes, and by its reads. */
  of(server: string): readonly [number, number] {
    return [this.#written.get(server) ?? 0, this.#read.get(server) ?? 0]
  }
}

function tornWrites(operations: readonly Operation[], { lists }: End): Violation[] {
  const tokens = new Map(Object.entries(lists).map(([name, list]) => [name, new Set(list)]))
  return operations.flatMap(({ write }): Violation[] => {
    if (write === undefined || write.registers.length < 2) return []
    const missing = write.registers.filter((name) => tokens.get(name)?.has(write.token) !== true)
    if (missing.length === 0 || missing.length === write.registers.length) return []
    return [{ kind: 'torn', text: `${write.token} is missing in ${missing.join(', ')} only` }]
  })
}

/** Each token has taken one number. */
function holes({ lists, sequence }: End): Violation[] {
  if (sequence === undefined) return []
  const count = Object.values(lists).reduce((sum, list) => sum + list.length, sequence.others)
  if (count === sequence.newest) return []
  return [{ kind: 'hole', text: `the newest sequence number is ${sequence.newest}, and there were ${count} changes` }]
}
