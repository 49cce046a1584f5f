/** The thread that runs PocketBase's code: it waits for a task, runs it, and says how it ended. */
import { getHeapStatistics } from 'node:v8'
import { workerData, type MessagePort } from 'node:worker_threads'
import type { DoneMessage, EventData, FunctionSource, Task, ThreadData } from '../protocol/messages.ts'
import { App } from './app.ts'
import { decode, encode, forgetRecords } from './coding.ts'
import { dataOf } from './errors.ts'
import { HookEvent } from './event.ts'
import { defineGlobals, setApp } from './globals.ts'
import { openLink } from './link.ts'
import { load, migrate } from './loader.ts'
import { functionOf, requireAsCommonJs } from './sources.ts'

const { port, hooksFolder, answers } = workerData as ThreadData & { readonly port: MessagePort }

openLink({ port, answers: new Int32Array(answers), encode, decode })
defineGlobals(hooksFolder)
requireAsCommonJs(hooksFolder)
port.on('message', (task: Task) => void run(task))

async function run(task: Task): Promise<void> {
  const done = await doneOf(task)
  forgetRecords()
  port.postMessage({ ...done, heapBytes: getHeapStatistics().total_heap_size } satisfies DoneMessage)
}

async function doneOf(task: Task): Promise<Omit<DoneMessage, 'heapBytes'>> {
  try {
    if (task.kind === 'load') return { kind: 'done', value: load(task.files, task.hooks, hooksFolder) }
    if (task.kind === 'handle') return { kind: 'done', ...(await handle(task.handler, task.event)) }
    migrate(task.file, task.step)
    return { kind: 'done' }
  } catch (error) {
    return { kind: 'done', error: dataOf(error) }
  }
}

/** A handler may give an error instead of throwing it, as in Go. */
async function handle(source: FunctionSource, data: EventData | undefined): Promise<Pick<DoneMessage, 'parts'>> {
  const event = data && new HookEvent(data)
  setApp(event?.app ?? new App())
  const result: unknown = await functionOf(source).call(undefined, event)
  if (result instanceof Error) throw result
  return event === undefined ? {} : { parts: event.changed() }
}
