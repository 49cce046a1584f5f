/** A progress bar on a terminal; elsewhere (a pipe, a CI log) one line at the end. */
import { log, progress } from '@clack/prompts'

export interface ProgressBar {
  update(done: number, label: string): void
  /** Ends the bar and leaves this line. */
  finish(line: string): void
  /** Ends the bar after a failure, saying why. */
  fail(line: string): void
}

export function progressBar(total: number, label: string, interrupted: string): ProgressBar {
  if (!process.stdout.isTTY) {
    return { update: () => undefined, finish: (line) => log.success(line), fail: (line) => log.error(line) }
  }
  const bar = progress({ style: 'block', size: 28, max: total, cancelMessage: interrupted })
  bar.start(label)
  let before = 0
  return {
    update(done, text) {
      bar.advance(done - before, text)
      before = done
    },
    finish: (line) => bar.stop(line),
    fail: (line) => bar.error(line),
  }
}
