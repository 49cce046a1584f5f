/** What a person does on the page, and sees of it. Controls are found by their names, as screen readers find them. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { EMAIL, PASSWORD, startAdmin } from '../server.ts'

const WAIT_MS_MAX = 60_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Waits until the page shows the text. */
export async function sees(page: Page, text: string, selector = 'body'): Promise<void> {
  await waitFor(page, `'${text}' in ${selector}`, { text, selector }, ({ text: wanted, selector: place }) =>
    [...document.querySelectorAll<HTMLElement>(place)].some(({ innerText }) => innerText.includes(wanted)),
  )
}

/** Waits until the page does not show it any more. */
export async function seesNo(page: Page, text: string, selector = 'body'): Promise<void> {
  await waitFor(page, `no '${text}' in ${selector}`, { text, selector }, ({ text: wanted, selector: place }) =>
    [...document.querySelectorAll<HTMLElement>(place)].every(({ innerText }) => !innerText.includes(wanted)),
  )
}

/** Presses the button, link, menu item or box of this name. */
export async function press(page: Page, name: string): Promise<void> {
  await waitFor(page, `a button '${name}'`, name, (wanted) => {
    const all = document.querySelectorAll<HTMLElement>(
      'button:not(:disabled), a, summary, [role^=menuitem]:not(:disabled), [type=checkbox]',
    )
    const nameOf = (element: HTMLElement): string => {
      const label = element instanceof HTMLInputElement ? element.labels?.[0] : undefined
      return element.getAttribute('aria-label') ?? (label ?? element).textContent.trim()
    }
    const found = [...all].find((element) => nameOf(element) === wanted && element.checkVisibility())
    found?.click()
    return found !== undefined
  })
}

/** Answers to requests of this method come only when the test releases them. */
export async function holdAnswers(page: Page, method: string): Promise<{ release(): Promise<void> }> {
  await page.evaluate((held) => {
    const { fetch: ask } = globalThis
    const { promise, resolve } = Promise.withResolvers<void>()
    globalThis.fetch = async (input, options) => {
      const answer = await ask(input, options)
      if (options?.method === held) await promise
      return answer
    }
    Object.assign(globalThis, { release: resolve })
  }, method)
  const release = (): Promise<void> => page.evaluate(() => (globalThis as unknown as { release: () => void }).release())
  return { release }
}

/** As a person who types or chooses: what the control has becomes `value`. */
export async function fill(page: Page, label: string, value: string): Promise<void> {
  await waitFor(page, `a control '${label}'`, { label, value }, ({ label: wanted, value: text }) => {
    type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
    const labelled = [...document.querySelectorAll('label')]
      .filter(({ innerText }) => innerText.trim().replace(/\s*\*$/, '') === wanted)
      .map(({ control }) => control as Control | null)
    const named = document.querySelector<Control>(`:is(input, select, textarea)[aria-label="${wanted}"]`)
    const control = [...labelled, named].find((one) => one?.checkVisibility() === true)
    if (control === undefined || control === null) return false
    // React hears of a value only if the element's own setter has set it.
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control) as object, 'value')!
    control.focus()
    set!.call(control, text)
    control.dispatchEvent(new Event('input', { bubbles: true }))
    control.dispatchEvent(new Event('change', { bubbles: true }))
    return true
  })
}

/** As a person who chooses a file in the control of this name. */
export async function giveFile(page: Page, label: string, name: string, content: string): Promise<void> {
  await waitFor(page, `a control '${label}'`, { label, name, content }, (given) => {
    const named = [...document.querySelectorAll('label')].find(({ innerText }) => innerText.trim() === given.label)
    const control = named?.control
    if (!(control instanceof HTMLInputElement)) return false
    const chosen = new DataTransfer()
    chosen.items.add(new File([given.content], given.name))
    control.files = chosen.files
    control.dispatchEvent(new Event('change', { bubbles: true }))
    return true
  })
}

/** Chooses one of several radio buttons: `group` is the name of all of them. */
export async function choose(page: Page, group: string, option: string): Promise<void> {
  await waitFor(page, `the choice '${option}' of '${group}'`, { group, option }, (wanted) => {
    const sets = [...document.querySelectorAll('fieldset')].filter(
      (set) => set.querySelector('legend')?.textContent === wanted.group && set.checkVisibility(),
    )
    const label = sets
      .flatMap((set) => [...set.querySelectorAll('label')])
      .find(({ innerText }) => innerText.trim() === wanted.option)
    label?.click()
    return label !== undefined
  })
}

/** Ticks the box whose label this is. */
export async function tick(page: Page, label: string): Promise<void> {
  await waitFor(page, `a box '${label}'`, label, (wanted) => {
    const all = [...document.querySelectorAll<HTMLElement>('label:has([type=checkbox])')]
    const found = all.find((one) => one.innerText.trim() === wanted)
    found?.click()
    return found !== undefined
  })
}

/** As a person who types over all that an editor of code has. */
export async function typeCode(page: Page, label: string, text: string): Promise<void> {
  const find = `[...document.querySelectorAll('.code-host')]
    .flatMap((host) => host.shadowRoot?.querySelector('.cm-content') ?? [])
    .findLast((one) => one.getAttribute('aria-label') === ${JSON.stringify(label)} && one.checkVisibility())`
  const run = (body: string): Promise<unknown> =>
    page.evaluate(Object.assign(() => undefined, { toString: () => `() => { ${body} }` }))
  await waitFor(
    page,
    `an editor '${label}'`,
    '',
    Object.assign(() => true, { toString: () => `() => ${find} !== undefined` }),
  )
  // The editor hears of the selection a moment later; if it was typed into before, the old text is still there.
  const deadline = Date.now() + WAIT_MS_MAX
  do {
    if (Date.now() > deadline) throw new Error(`The editor '${label}' does not take '${text}'.`)
    // On a slow machine it would hear of it after what is typed, which would keep the colour of the old text by a style.
    await run(
      `${find}.focus(); document.execCommand('selectAll'); document.dispatchEvent(new Event('selectionchange'))`,
    )
    await new Promise((resolve) => setTimeout(resolve, 60))
    // Browsers send this event before what is typed, but not before commands.
    await run(`const event = { inputType: 'insertText', data: ${JSON.stringify(text)}, bubbles: true, cancelable: true }
      if (${find}.dispatchEvent(new InputEvent('beforeinput', event))) document.execCommand('insertText', false, ${JSON.stringify(text)})`)
    // Written at the next frame.
    await new Promise((resolve) => setTimeout(resolve, 60))
  } while (withoutSpace(String(await run(`return ${find}.innerText`))) !== withoutSpace(text))
}

/** Editors draw lines as blocks. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

/** Goes to an address of the page, as a link does, and waits until the page has heard of it. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(async (wanted) => {
    const { href } = location
    // The page listens since it began. What it draws then, it draws before the next task.
    const heard = new Promise((resolve) => addEventListener('hashchange', () => setTimeout(resolve), { once: true }))
    location.hash = wanted
    if (location.href !== href) await heard
  }, hash)
}

export async function signIn(page: Page): Promise<void> {
  await fill(page, 'E-mail address', EMAIL)
  await fill(page, 'Password', PASSWORD)
  await press(page, 'Sign in')
  await sees(page, 'Collections', '.sidebar')
}

/** A server of its own, which `prepare` has filled, and a superuser who is signed in and looks at `hash`. */
export async function withServerPage(
  browser: Browser,
  hash: string,
  use: (page: Page, server: TestServer) => Promise<void>,
  prepare?: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startAdmin()
  await prepare?.(server)
  const page = await browser.open(`${server.url}/_/`)
  try {
    await signIn(page)
    await goTo(page, hash)
    await use(page, server)
    assertEqual(page.errors(), [])
  } finally {
    await page.close()
    await server.close()
  }
}

/** The name of what has the focus. */
export async function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement } = document
    return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? ''
  })
}

/** @throws if axe finds what breaks WCAG 2.2 AA, or the console has an error */
export async function isSound(page: Page): Promise<void> {
  // A view is loaded when it is first shown.
  await waitFor(page, 'a view', '', () => document.querySelector('h1') !== null)
  const load = Object.assign(() => undefined, { toString: () => `() => { ${AXE} }` })
  await page.evaluate(load)
  // What fades in has less contrast meanwhile.
  await waitFor(page, 'its rest', '', () =>
    document.getAnimations().every(({ effect }) => effect?.getComputedTiming().iterations === Infinity),
  )
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResult> } }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const { violations } = await axe.run({ runOnly: tags })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n  ')}`)
  })
  if (found.length > 0) throw new Error(`axe finds:\n${found.join('\n')}`)
  if (page.errors().length > 0) throw new Error(`the console has:\n${page.errors().join('\n')}`)
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** Waits until the function gives true in the page. */
export async function waitFor<T>(
  page: Page,
  what: string,
  argument: T,
  check: (argument: T) => boolean,
): Promise<void> {
  const deadline = Date.now() + WAIT_MS_MAX
  while (!(await page.evaluate(check, argument))) {
    if (Date.now() > deadline) {
      const text = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('dialog, body')]
          .map(({ innerText }) => innerText.slice(-300))
          .join('\n---\n'),
      )
      throw new Error(`The page does not have ${what}. It shows:\n${text}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
