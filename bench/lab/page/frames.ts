/** Runs phases in frames. Each starts with empty memory, and removing it ends it and its connections. */
import { OPFS_FOLDER } from '../../contenders/opfs.ts'
import type { PhaseReport, PhaseRequest } from '../../harness/run-phase.ts'
import { MEASURED_DATABASE } from '../model/run-plan.ts'
import type { RunnerParts } from '../model/run-plan.ts'
import type { FrameMessage } from './frame.ts'

const START_MS_MAX = 30_000
const DELETE_MS_MAX = 10_000

export const runInFrame: RunnerParts['runPhase'] = async (request, { signal, onWorkload }) => {
  signal.throwIfAborted()
  const frame = document.createElement('iframe')
  frame.src = `frame.html?${new URLSearchParams({ request: JSON.stringify(request satisfies PhaseRequest) }).toString()}`
  frame.title = 'The measured database'
  frame.className = 'measured'
  frame.tabIndex = -1
  frame.setAttribute('aria-hidden', 'true')
  const outcome = Promise.withResolvers<PhaseReport>()
  const late = setTimeout(() => outcome.reject(new Error('the frame did not start')), START_MS_MAX)
  const onMessage = ({ source, data }: MessageEvent): void => {
    if (source !== frame.contentWindow) return
    clearTimeout(late)
    const message = data as FrameMessage
    if (message.type === 'workload') onWorkload(message.name)
    else if (message.type === 'done') outcome.resolve(message.report)
    else if (message.type === 'failed') outcome.reject(new Error(message.message))
  }
  const onAbort = (): void => outcome.reject(signal.reason)
  addEventListener('message', onMessage)
  signal.addEventListener('abort', onAbort)
  document.body.append(frame)
  try {
    return await outcome.promise
  } finally {
    clearTimeout(late)
    removeEventListener('message', onMessage)
    signal.removeEventListener('abort', onAbort)
    frame.remove()
  }
}

/** Databases and files of contenders, and nothing of anybody else's: the origin may serve other pages too. */
export async function removeMeasured(): Promise<void> {
  const found = await indexedDB.databases().catch(() => [])
  const names = found.flatMap(({ name = '' }) => (name.includes(MEASURED_DATABASE) ? [name] : []))
  await Promise.all(names.map(removeDatabase))
  try {
    const root = await navigator.storage.getDirectory()
    await root.removeEntry(OPFS_FOLDER, { recursive: true })
  } catch {
    // There are no files, or no such file system, or the worker of a removed frame still ends: the next time gets them.
  }
}

/** A connection of a removed frame may take a while to close; it is not waited for without end. */
function removeDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name)
    const settle = (): void => {
      clearTimeout(late)
      resolve()
    }
    const late = setTimeout(resolve, DELETE_MS_MAX)
    request.addEventListener('success', settle)
    request.addEventListener('error', settle)
  })
}
