/**
 * Counts what one call enters: files of the packages, and named functions in them. It is one warm call, measured by V8's precise
 * coverage. `npm run rooms` prints the counts beside their bars. `npm run rooms -- insert login` prints a table for each, in the order
 * in which functions are first entered. That order comes from another call, with a breakpoint in each function.
 */
import { Session, type Debugger, type Profiler } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from './checks/packages.ts'
import { LIBRARY } from './rooms/library-walks.ts'
import { SERVER } from './rooms/server-walks.ts'
import type { Walks } from './rooms/walks.ts'

const PACKAGES = pathToFileURL(join(root, 'packages/')).href
const isSource = (url: string): boolean => url.startsWith(PACKAGES) && /^[a-z]+\/src\//.test(url.slice(PACKAGES.length))
const WARM_CALLS = 10

interface Room {
  readonly scriptId: string
  readonly url: string
  readonly name: string
  readonly calls: number
  readonly start: number
  readonly end: number
}

const session = new Session()
session.connect()
const chosen = process.argv.slice(2)
const known = [LIBRARY, SERVER].flatMap(({ walks }) => Object.keys(walks))
for (const name of chosen)
  if (!known.includes(name)) throw new Error(`rooms: a walk must be one of ${known.join(', ')}, got ${name}`)
await measure(LIBRARY)
await measure(SERVER)
process.exit()

async function measure<World>({ open, walks }: Walks<World>): Promise<void> {
  const wanted = Object.entries(walks).filter(([name]) => chosen.length === 0 || chosen.includes(name))
  if (wanted.length === 0) return
  const world = await open()
  for (const [name, { bar, run }] of wanted) {
    const walk = (): Promise<unknown> => run(world)
    const rooms = await roomsOf(walk)
    const files = new Set(rooms.map(({ url }) => url))
    const calls = rooms.reduce((sum, room) => sum + room.calls, 0)
    const allowed = bar === undefined ? '' : ` (bar ${bar[0]} files / ${bar[1]} functions)`
    console.log(`${name}: ${files.size} files / ${rooms.length} functions / ${calls} calls${allowed}`)
    if (chosen.length > 0) await printTable(rooms, walk)
  }
}

async function roomsOf(walk: () => Promise<unknown>): Promise<Room[]> {
  for (let call = 0; call < WARM_CALLS; call++) await walk()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await walk()
  await session.post('Profiler.takePreciseCoverage')
  await walk()
  const { result } = (await session.post('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType
  await session.post('Profiler.stopPreciseCoverage')
  return result.flatMap(({ scriptId, url, functions }) =>
    isSource(url)
      ? functions.flatMap(({ functionName: name, ranges: [range] }) =>
          name === '' || name.startsWith('<') || range === undefined || range.count === 0
            ? []
            : [{ scriptId, url, name, calls: range.count, start: range.startOffset, end: range.endOffset }],
        )
      : [],
  )
}

async function printTable(rooms: readonly Room[], walk: () => Promise<unknown>): Promise<void> {
  const ordered = await inOrder(rooms, walk)
  const files = Map.groupBy(ordered, ({ url }) => url)
  let at = 0
  for (const [url, inFile] of files) {
    const names = inFile.map(({ name, calls }) => (calls === 1 ? name : `${name} ×${calls}`))
    console.log(`${String(++at).padStart(4)}  ${relative(root, fileURLToPath(url))}: ${names.join(', ')}`)
  }
}

/** By when each is first entered. What the second call does not enter comes last. */
async function inOrder(rooms: readonly Room[], walk: () => Promise<unknown>): Promise<readonly Room[]> {
  const entered = new Set<Room>()
  const byBreakpoint = new Map<string, Room>()
  const onPaused = ({ params }: { params: Debugger.PausedEventDataType }): void => {
    for (const id of params.hitBreakpoints ?? []) entered.add(byBreakpoint.get(id)!)
    void session.post('Debugger.resume')
  }
  await session.post('Debugger.enable')
  for (const room of rooms) {
    const id = await breakIn(room)
    if (id !== undefined) byBreakpoint.set(id, room)
  }
  session.on('Debugger.paused', onPaused)
  await walk()
  session.off('Debugger.paused', onPaused)
  await session.post('Debugger.disable')
  return [...entered, ...rooms.filter((room) => !entered.has(room))]
}

/** Sets a breakpoint at the first place in a function where one can be. An empty function has no such place. */
async function breakIn({ scriptId, start, end }: Room): Promise<string | undefined> {
  const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId })
  const placeOf = (offset: number): Debugger.Location => {
    const lines = scriptSource.slice(0, offset).split('\n')
    return { scriptId, lineNumber: lines.length - 1, columnNumber: lines.at(-1)!.length }
  }
  const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
    start: placeOf(start),
    end: placeOf(end),
  })
  const [location] = locations
  if (location === undefined) return undefined
  try {
    return (await session.post('Debugger.setBreakpoint', { location })).breakpointId
  } catch {
    // A function that another one begins with has the same place.
    return undefined
  }
}
