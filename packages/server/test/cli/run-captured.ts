/** Runs a command as at a terminal, in this process; what it prints comes back. */
import { PassThrough, Readable } from 'node:stream'
import { systemEnvironment } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { runCli } from '../../src/cli/run.ts'

export interface Captured {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function runCaptured(
  parameters: readonly string[],
  {
    input = '',
    signal = new AbortController().signal,
    onErr = () => {},
    environment = systemEnvironment(),
  }: {
    readonly environment?: Environment
    readonly input?: string
    readonly signal?: AbortSignal
    readonly onErr?: (all: string) => void
  } = {},
): Promise<Captured> {
  const stdout = collector()
  const stderr = collector()
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: stdout.stream, stderr: stderr.stream }
  stderr.stream.on('data', () => onErr(stderr.text()))
  const code = await runCli(parameters, { ...streams, signal, environment }, '1.2.3')
  return { code, out: stdout.text(), err: stderr.text() }
}

function collector(): { readonly stream: PassThrough; readonly text: () => string } {
  const chunks: Buffer[] = []
  const stream = new PassThrough()
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
