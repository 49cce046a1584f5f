/** Drives Chromium over its DevTools protocol and Firefox over WebDriver BiDi, both through puppeteer. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Browser as Puppet, type BrowserContext, type KeyInput, type Page as Tab } from 'puppeteer-core'
import { stop } from '../processes.ts'
import type { Page, Session } from './browser.ts'
import { commandOf, type Engine, type EngineOptions } from './engines.ts'
import { launch, waitForOutput } from './launch.ts'
import { descendantsOf, killProcesses } from './process-tree.ts'

const START_MS_MAX = 45_000
const CLOSE_MS_MAX = 30_000
const LOAD_MS_MAX = 60_000

export async function startPuppeteer(engine: Engine, options: EngineOptions): Promise<Session> {
  const child = await launch(commandOf(engine, options, 'about:blank'))
  const puppet = await connectTo(child, engine)
  const context =
    engine === 'chromium' && options.privateMode === true
      ? await puppet.createBrowserContext()
      : puppet.defaultBrowserContext()
  return {
    open: (url) => openPage(engine, child, context, url, options.quotaBytes),
    async close() {
      await closePolitely(child, puppet)
    },
    async kill() {
      await stop(child, 'SIGKILL')
      await puppet.disconnect().catch(() => undefined)
    },
  }
}

async function connectTo(child: ChildProcess, engine: Engine): Promise<Puppet> {
  const common = { protocolTimeout: 120_000, defaultViewport: null }
  if (engine === 'chromium') {
    const endpoint = await waitForOutput(child, /DevTools listening on (ws:\/\/\S+)/, START_MS_MAX)
    return connect({ ...common, browserWSEndpoint: endpoint })
  }
  const endpoint = await waitForOutput(child, /WebDriver BiDi listening on (ws:\/\/\S+)/, START_MS_MAX)
  return connect({ ...common, browserWSEndpoint: `${endpoint}/session`, protocol: 'webDriverBiDi' })
}

/** Lets the browser write down what it holds; kills it if it takes too long. */
async function closePolitely(child: ChildProcess, puppet: Puppet): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS_MAX).unref())
  await Promise.race([puppet.close().catch(() => undefined), late])
  await Promise.race([gone, late])
  await stop(child)
}

async function openPage(
  engine: Engine,
  child: ChildProcess,
  context: BrowserContext,
  url: string,
  quotaBytes: number | undefined,
): Promise<Page> {
  const tab = await context.newPage()
  tab.setDefaultNavigationTimeout(LOAD_MS_MAX)
  if (engine === 'chromium' && quotaBytes !== undefined) await limitChromium(tab, url, quotaBytes)
  const errors = errorsOf(tab)
  // Chromium asks before it leaves a page with unsaved text, and waits for the answer.
  tab.on('dialog', (dialog) => void (dialog.type() === 'beforeunload' && dialog.accept()))
  await tab.goto(url, { waitUntil: 'load' })
  return {
    errors: () => errors,
    evaluate<Argument, Result>(
      body: (argument: Argument) => Result | Promise<Result>,
      argument?: Argument,
    ): Promise<Result> {
      return tab.evaluate(`(${body.toString()})(${JSON.stringify(argument)})`) as Promise<Result>
    },
    press: (key) => tab.keyboard.press(key as KeyInput),
    addPasskeyDevice: () => addPasskeyDevice(engine, tab),
    reload: () => reload(tab),
    close: () => tab.close(),
    async killRenderer() {
      if (engine === 'chromium') await crashChromium(tab)
      else killProcesses(descendantsOf(child.pid ?? 0).filter(({ command }) => /-contentproc.* tab$/.test(command)))
    },
    freeze: () => setLifecycle(engine, tab, 'frozen'),
    thaw: () => setLifecycle(engine, tab, 'active'),
  }
}

async function reload(tab: Tab): Promise<void> {
  const origin = 'performance.timeOrigin'
  const before = await tab.evaluate(origin)
  const deadline = Date.now() + LOAD_MS_MAX
  await tab.reload({ waitUntil: 'load' })
  // In Firefox puppeteer takes a part of the address that changes meanwhile for the navigation. There the old page may still be seen.
  const isLoaded = `${origin} !== ${String(before)} && document.readyState === 'complete'`
  while (!(await tab.evaluate(isLoaded).catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`${tab.url()} was not loaded again within ${LOAD_MS_MAX / 1000} s.`)
    await sleep(20)
  }
}

/** Grows. An answer of the server with an error is left out: the page asked for it. */
function errorsOf(tab: Tab): readonly string[] {
  const errors: string[] = []
  tab.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
  tab.on('pageerror', (error) => errors.push(String(error)))
  return errors
}

async function limitChromium(tab: Tab, url: string, quotaBytes: number): Promise<void> {
  const protocol = await tab.createCDPSession()
  await protocol.send('Storage.overrideQuotaForOrigin', { origin: new URL(url).origin, quotaSize: quotaBytes })
}

async function addPasskeyDevice(engine: Engine, tab: Tab): Promise<void> {
  if (engine !== 'chromium') throw new Error('Firefox has no way to make a device with passkeys.')
  // The device goes with the session, which goes with the tab.
  const protocol = await tab.createCDPSession()
  await protocol.send('WebAuthn.enable')
  await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

async function setLifecycle(engine: Engine, tab: Tab, state: 'frozen' | 'active'): Promise<void> {
  if (engine !== 'chromium') throw new Error('Firefox has no way to freeze a tab.')
  const protocol = await tab.createCDPSession()
  await protocol.send('Page.setWebLifecycleState', { state })
  await protocol.detach()
}

/** The crash happens outside the thread of the page, so it does not wait for it; the command itself is never answered. */
async function crashChromium(tab: Tab): Promise<void> {
  const crashed = new Promise<void>((resolve) => tab.once('error', () => resolve()))
  const protocol = await tab.createCDPSession()
  protocol.send('Page.crash').catch(() => undefined)
  await crashed
}
