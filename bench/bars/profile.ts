/**
 * Shows where one workload spends its time: records a CPU profile in Node or in Chromium and prints the functions with the
 * most time of their own. The phases before it run too, so that the database is as the table finds it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launch } from 'puppeteer-core'
import { bundle } from '../../tools/browser/bundle.ts'
import { commandOf } from '../../tools/browser/engines.ts'
import { servePages } from '../../tools/browser/page-server.ts'
import { freePort, makeFolder, removeFolder } from '../../tools/processes.ts'
import { formatHotFunctions } from './cpu-profile.ts'
import type { CpuProfile } from './cpu-profile.ts'
import { databaseIn, runInNode } from '../places.ts'
import { PROGRAM, rivalIn } from './engines.ts'
import type { ContenderName, PhaseReport, PhaseRequest } from './phase.ts'
import { phases } from './workloads.ts'

const SAMPLING_MICROSECONDS = 200
const WORKLOADS = phases.flatMap((phase) => phase.workloads.map((workload) => workload.name))

const USAGE = `Usage: node tools/run.mjs bench/bars/profile.ts [OPTIONS] node|chromium WORKLOAD

  --documents N   default 100000
  --opfs          Pannier in the private file system of the browser
  --rival         profile what Pannier is compared with, instead of Pannier
  --top N         how many functions to print (default 30)
  --help          print this

Workloads: ${[...new Set(WORKLOADS)].join(', ')}
The profile is kept in bench/results/bars/ too, for the performance panel of a browser's developer tools.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    documents: { type: 'string', default: '100000' },
    opfs: { type: 'boolean', default: false },
    rival: { type: 'boolean', default: false },
    top: { type: 'string', default: '30' },
    help: { type: 'boolean', default: false },
  },
})
const [engine, workload = ''] = positionals

if (values.help) console.log(USAGE)
else if ((engine !== 'node' && engine !== 'chromium') || !WORKLOADS.includes(workload)) {
  console.error(USAGE)
  process.exitCode = 2
} else await profile(engine, workload)

async function profile(place: 'node' | 'chromium', name: string): Promise<void> {
  const folder = makeFolder('profile')
  const results = join(import.meta.dirname, '../results/bars')
  mkdirSync(results, { recursive: true })
  const file = join(results, `${place}-${name}.cpuprofile`)
  const contender: ContenderName = values.rival ? rivalIn(place) : 'pannier'
  const set = { documents: Number(values.documents), seed: 1, ids: 'random' } as const
  const last = phases.findIndex((phase) => phase.workloads.some((one) => one.name === name))
  const requests = phases.slice(0, last + 1).map((phase, at): PhaseRequest => ({
    contender,
    phase: phase.name,
    place: databaseIn(place, folder),
    set,
    ...(values.opfs && { storage: 'opfs' as const }),
    ...(at === last && { profile: name }),
  }))
  // One port for all phases: it is part of the origin that owns the database.
  const run = place === 'node' ? runNode : chromiumRunner(await freePort())
  let report: PhaseReport | undefined
  for (const request of requests) report = await run(folder, request, file)
  removeFolder(folder)
  const script = place === 'chromium' ? await bundle(PROGRAM.page) : undefined
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  console.log(`${contender} in ${place}, ${name}:`, report?.outcomes[name]?.times)
  console.log(formatHotFunctions(recorded, { top: Number(values.top), script }))
}

type Runner = (folder: string, request: PhaseRequest, file: string) => Promise<PhaseReport>

async function runNode(folder: string, request: PhaseRequest, file: string): Promise<PhaseReport> {
  return (await runInNode(PROGRAM, folder, request, file)) as PhaseReport
}

/** Drives the page over the DevTools protocol. The page says when the recording starts and stops. */
function chromiumRunner(port: number): Runner {
  return async (folder, request, file) => {
    const outcome = Promise.withResolvers<PhaseReport>()
    await using server = await servePages({
      entries: { page: PROGRAM.page },
      port,
      onReport: (posted) => {
        const report = posted as { readonly value?: PhaseReport; readonly error?: { readonly stack?: string } }
        if (report.value === undefined) outcome.reject(new Error(report.error?.stack))
        else outcome.resolve(report.value)
      },
    })
    const { program, parameters } = commandOf('chromium', { profileDir: folder, remote: false }, 'about:blank')
    const args = parameters.filter((parameter) => parameter.startsWith('--'))
    const browser = await launch({ executablePath: program, args, userDataDir: folder })
    try {
      const page = await browser.newPage()
      const session = await page.createCDPSession()
      await page.exposeFunction('startProfile', async () => {
        await session.send('Profiler.enable')
        await session.send('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS })
        await session.send('Profiler.start')
      })
      await page.exposeFunction('stopProfile', async () => {
        const { profile: recorded } = await session.send('Profiler.stop')
        writeFileSync(file, JSON.stringify(recorded))
      })
      await page.goto(`${server.baseUrl}/page?${new URLSearchParams({ request: JSON.stringify(request) }).toString()}`)
      return await outcome.promise
    } finally {
      await browser.close()
    }
  }
}
