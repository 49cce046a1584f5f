/** Load on a server. Failures are counted, and the first one is kept. */
import { HttpSocket, isSuccess, type Call } from './http-socket.ts'

export interface Load {
  /** The most requests. */
  readonly requests: number
  /** The milliseconds after which no request begins. */
  readonly milliseconds: number
  /** The number of requests under way at once. */
  readonly concurrency: number
  /** False for a new connection for each request. */
  readonly keepAlive: boolean
  readonly call: (index: number) => Call
}

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly failed: number
  readonly firstFailure: string
}

/** Requests at a steady rate, until it is stopped. */
export interface SteadyLoad {
  /** How many were answered, and how many of these failed. */
  stop(): Promise<{ readonly requests: number; readonly failed: number }>
}

/** A watch: requests one after the other, with a pause, until it is stopped. */
export interface Watch {
  /** How long the slowest took. */
  stop(): Promise<number>
}

const STEADY_TICK_MS = 5
const WATCH_PAUSE_MS = 2

export async function drive(
  url: URL,
  { requests, milliseconds, concurrency, keepAlive, call }: Load,
): Promise<LoadResult> {
  const times: number[] = []
  let next = 0
  let failed = 0
  let firstFailure = ''
  const started = performance.now()
  const work = async (): Promise<void> => {
    let socket: HttpSocket | undefined
    while (next < requests && performance.now() - started < milliseconds) {
      const index = next++
      const sent = performance.now()
      if (socket === undefined || socket.isBroken) socket = new HttpSocket(url)
      const { status, text } = await socket.send(call(index), keepAlive)
      times.push(performance.now() - sent)
      if (!isSuccess(status) && failed++ === 0) firstFailure = `${status} ${text.slice(0, 120)}`
      if (keepAlive) continue
      socket.close()
      socket = undefined
    }
    socket?.close()
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, requests) }, work))
  const tookMs = performance.now() - started
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(part * times.length))]!
  const perSecond = (times.length / tookMs) * 1000
  return { requests: times.length, perSecond, p50Ms: at(0.5), p95Ms: at(0.95), failed, firstFailure }
}

/** Requests that are late are sent as soon as a connection is free. */
export function steadily(url: URL, perSecond: number, connections: number, call: (index: number) => Call): SteadyLoad {
  const started = performance.now()
  let sent = 0
  let failed = 0
  let isOn = true
  const work = async (): Promise<void> => {
    const socket = new HttpSocket(url)
    while (isOn) {
      const due = ((performance.now() - started) / 1000) * perSecond
      if (sent >= due) await pause(STEADY_TICK_MS)
      else if (!isSuccess((await socket.send(call(sent++), true)).status)) failed++
    }
    socket.close()
  }
  const working = Promise.all(Array.from({ length: connections }, work))
  return {
    stop: async () => {
      isOn = false
      await working
      return { requests: sent, failed }
    },
  }
}

export function watch(url: URL, call: Call): Watch {
  let longest = 0
  let isOn = true
  const work = async (): Promise<void> => {
    const socket = new HttpSocket(url)
    while (isOn) {
      const sent = performance.now()
      await socket.send(call, true)
      longest = Math.max(longest, performance.now() - sent)
      await pause(WATCH_PAUSE_MS)
    }
    socket.close()
  }
  const working = work()
  return {
    stop: async () => {
      isOn = false
      await working
      return longest
    },
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
