/** Programs that run beside this one, in a thread or a process: files beside the module, or assets of the single executable file. */
import { fork, type ChildProcess, type ForkOptions } from 'node:child_process'
import { getAsset, isSea } from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** The first argument of a process of the single executable file that is to run an asset. */
const ASSET_PREFIX = 'pannier-program:'

/** `beside`: the URL of a module in the folder of the program. `name`: of its file, without the extension. */
export function startThread(beside: string, name: string, options: WorkerOptions): Worker {
  return isSea()
    ? new Worker(getAsset(name, 'utf8'), { ...options, eval: true })
    : new Worker(fileBeside(beside, name), options)
}

/** As `startThread`, with arguments. */
export function startProcess(
  beside: string,
  name: string,
  parameters: readonly string[],
  options: ForkOptions,
): ChildProcess {
  return fork(isSea() ? ASSET_PREFIX + name : fileBeside(beside, name), parameters, options)
}

/** The name of the asset that this process is to run. */
export function programOfProcess(): string | undefined {
  const [, , first = ''] = process.argv
  return isSea() && first.startsWith(ASSET_PREFIX) ? first.slice(ASSET_PREFIX.length) : undefined
}

function fileBeside(url: string, name: string): URL {
  return new URL(`./${name}.${url.endsWith('.ts') ? 'ts' : 'js'}`, url)
}
