/** Steps of a person on a page, and sights of it. */
import type { Page } from '../../../tools/browser/with-browser.ts'
import { bundlePage } from '../../node/bundle.ts'

export const WAIT_MS_MAX = 60_000

/** Made once: it takes a second. */
export const onePage: typeof bundlePage = once(bundlePage)

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Waits until the element shows a text that begins so. */
export async function sees(page: Page, selector: string, text: string): Promise<void> {
  const shown = await page.evaluate(
    async ({ selector, text, waitMs }) => {
      const deadline = performance.now() + waitMs
      for (;;) {
        const shown = document.querySelector(selector)?.textContent?.trim() ?? ''
        if (shown.startsWith(text) || performance.now() > deadline) return shown
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    { selector, text, waitMs: WAIT_MS_MAX },
  )
  if (!shown.startsWith(text)) throw new Error(`${selector} shows '${shown}', not '${text}'`)
}

export async function click(page: Page, selector: string): Promise<void> {
  await page.evaluate((selector) => document.querySelector<HTMLElement>(selector)!.click(), selector)
}

/** Sets the value of a control, as a person types or chooses. */
export async function set(page: Page, selector: string, value: string): Promise<void> {
  await page.evaluate(
    async ({ selector, value, waitMs }) => {
      const field = document.querySelector<HTMLInputElement | HTMLSelectElement>(selector)!
      // Nobody chooses an option before it is there.
      const deadline = performance.now() + waitMs
      while ('options' in field && ![...field.options].some((option) => option.value === value)) {
        if (performance.now() > deadline) throw new Error(`${selector} has no option '${value}'`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      field.value = value
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    { selector, value, waitMs: WAIT_MS_MAX },
  )
}
