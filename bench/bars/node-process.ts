/**
 * Runs a phase in a fresh Node process, as page.ts does in a browser: runs the phase of its argument and prints the
 * report. It ends by a kill, so that a phase that leaves its database open leaves it as a crash would.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import type { Contender } from './contenders/contender.ts'
import { runPhase } from './phase.ts'
import type { ContenderName, PhaseRequest, Profiler } from './phase.ts'

const SAMPLING_MICROSECONDS = 200

const request = JSON.parse(process.argv[2]!) as PhaseRequest
const profiler = request.profile === undefined ? undefined : processProfiler(process.argv[3]!)
const report = await runPhase(await makeContender(request.contender), request, profiler)
writeSync(1, JSON.stringify(report))
process.kill(process.pid, 'SIGKILL')

/** Loads the one that is asked for and nothing of the other. */
async function makeContender(name: ContenderName): Promise<Contender> {
  if (name === 'pannier') return (await import('./contenders/pannier.ts')).pannierContender()
  if (name === 'pannier-encrypted') return (await import('./contenders/pannier.ts')).encryptedPannierContender()
  return (await import('./contenders/node-sqlite.ts')).nodeSqliteContender()
}

function processProfiler(path: string): Profiler {
  const session = new Session()
  return {
    async start() {
      session.connect()
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS })
      await session.post('Profiler.start')
    },
    async stop() {
      const { profile } = await session.post('Profiler.stop')
      writeFileSync(path, JSON.stringify(profile))
    },
  }
}
