/**
 * Drives WebKitGTK: starts MiniBrowser as a person would, with a few tabs that wait for pages, and controls what is in
 * them from within (remote-control.ts). So it stores on disk, a killed page leaves the others alone, and the browser can be
 * killed and restarted on what it has stored. WebKitWebDriver can do none of that.
 */
import { stop } from '../processes.ts'
import type { Page, Session } from './browser.ts'
import { controllable } from './control-proxy.ts'
import { commandOf, type Engine, type EngineOptions } from './engines.ts'
import { launch, withTimeout } from './launch.ts'
import { descendantsOf, killProcesses, signalProcesses, type ProcessFacts } from './process-tree.ts'
import { startRemoteControl, type RemoteControl, type Slot } from './remote-control.ts'

/** Tabs that can be open at a time: MiniBrowser opens tabs only when it starts. A killed one is not used again. */
const SLOT_COUNT = 5
const READY_MS_MAX = 45_000

export async function startWebKit(_engine: Engine, options: EngineOptions): Promise<Session> {
  const control = await startRemoteControl(SLOT_COUNT)
  const command = commandOf('webkit', options, '')
  const addresses = control.slots.map((slot) => slot.addressOf(control.idleUrl))
  const ready = Promise.all(control.slots.map((slot) => slot.expect(control.idleUrl)))
  const child = await launch({
    ...command,
    parameters: [...command.parameters.filter((text) => text !== ''), ...addresses],
  })
  const died = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`MiniBrowser ended with ${code}`)))
  })
  died.catch(() => undefined)
  await withTimeout(Promise.race([ready, died]), READY_MS_MAX, 'the start of MiniBrowser')
  const tabs = new Tabs(control, child.pid ?? 0)
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    for (const slot of control.slots) slot.abandon('the browser has ended')
    await stop(child, signal)
    await control.close()
  }
  return { open: (url) => tabs.open(url), close: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

class Tabs {
  private readonly control: RemoteControl
  private readonly browserId: number
  private readonly free: Slot[]
  /** The end of the last opening. Pages open one after another, so that the new process is that of the page. */
  private opening: Promise<unknown> = Promise.resolve()

  constructor(control: RemoteControl, browserId: number) {
    this.control = control
    this.browserId = browserId
    this.free = [...control.slots]
  }

  open(url: string): Promise<Page> {
    const opened = this.opening.then(() => this.openNext(url))
    this.opening = opened.catch(() => undefined)
    return opened
  }

  private async openNext(url: string): Promise<Page> {
    const slot = this.free.shift()
    if (slot === undefined) throw new Error(`WebKit can have ${SLOT_COUNT} pages at a time here.`)
    const before = new Set(this.pageProcesses().map(({ id }) => id))
    const address = await controllable(url)
    await slot.load(address)
    const processes = this.pageProcesses().filter(({ id }) => !before.has(id))
    return {
      evaluate: <Argument, Result>(body: (argument: Argument) => Result | Promise<Result>, argument?: Argument) =>
        slot.evaluate(`(${body.toString()})(${JSON.stringify(argument)})`) as Promise<Result>,
      errors: () => [],
      // What listens gets it; the browser itself does nothing by it.
      press: async (key) => void (await slot.evaluate(`(${pressKey.toString()})(${JSON.stringify(key)})`)),
      addPasskeyDevice: () => Promise.reject(new Error('WebKit has no way to make a device with passkeys.')),
      reload: () => slot.reload(),
      close: async () => {
        await slot.load(this.control.idleUrl)
        this.release(slot)
      },
      killRenderer: async () => {
        killProcesses(needProcesses(processes))
        slot.abandon('the page was killed')
      },
      freeze: async () => signalProcesses(needProcesses(processes), 'SIGSTOP'),
      thaw: async () => signalProcesses(needProcesses(processes), 'SIGCONT'),
    }
  }

  /** The first tab is the one in front: it is always taken first. */
  private release(slot: Slot): void {
    const order = this.control.slots
    this.free.push(slot)
    this.free.sort((a, b) => order.indexOf(a) - order.indexOf(b))
  }

  private pageProcesses(): readonly ProcessFacts[] {
    return descendantsOf(this.browserId).filter(({ command }) => command.includes('WebKitWebProcess'))
  }
}

function pressKey(key: string): void {
  let at = document.activeElement ?? document.body
  while (at.shadowRoot?.activeElement instanceof Element) at = at.shadowRoot.activeElement
  for (const type of ['keydown', 'keyup'])
    at.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, cancelable: true, composed: true }))
}

function needProcesses(processes: readonly ProcessFacts[]): readonly ProcessFacts[] {
  if (processes.length === 0) throw new Error('WebKit gave the page no process of its own.')
  return processes
}
