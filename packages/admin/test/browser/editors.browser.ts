/** Goal: HTML is edited as text or as source, and JSON with its errors in place; nothing stored is lost or run, and keys reach all of it. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Browser, Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { until } from '../../../server/test/test-server.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { ITSELF } from '../server.ts'
import { fill, focused, goTo, isSound, press, sees, seesNo, typeCode, waitFor, withServerPage } from './steps.ts'

const TEXT = '.rich-text'
const HOSTILE = `<p>Before</p><script>hacked = 1</script><img src="x:" onerror="hacked = 2"><p style="color:red" onclick="hacked = 3">
<a href="javascript:hacked = 4">link</a></p><iframe srcdoc="<script>parent.hacked = 5</script>"></iframe>`

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // The driver of WebKit has the hash of the address for itself, where the page has its views.
  if (browser.engine === 'webkit') return

  test('a text gets its format by buttons and keys, and is the same again after undo', async () => {
    await withPosts(browser, { body: '<p>one</p>\n<p>two</p>' }, async (page, server, id) => {
      await sees(page, 'two', TEXT)
      await isSound(page)
      await select(page, 'one')
      await press(page, 'Bold')
      await arePressed(page, ['Bold'])
      await press(page, 'Undo')
      await arePressed(page, [])
      // What is stored is there again, to the character: nothing is asked.
      await press(page, 'Cancel')
      await seesNo(page, 'Record of posts')
      await goTo(page, `/records/posts?record=${id}`)
      await select(page, 'one')
      await press(page, 'Italic')
      await press(page, 'H2 heading')
      await select(page, 'two')
      await press(page, 'Numbered list')
      await press(page, 'Link')
      await fill(page, 'Address', 'javascript:alert(1)')
      await press(page, 'Set the link')
      await sees(page, 'A link can’t lead to javascript:alert(1)', 'dialog')
      await isSound(page)
      await fill(page, 'Address', 'https://a.example/')
      await press(page, 'Set the link')
      await arePressed(page, ['Link', 'Numbered list'])
      await press(page, 'Save')
      await sees(page, 'The record is saved.')
      assertEqual(
        await bodyOf(server, id),
        '<h2><em>one</em></h2><ol><li><a href="https://a.example/">two</a></li></ol>',
      )
    })
  })

  test('the text is written with keys alone: Tab leaves it, and arrows go through its toolbar', async () => {
    await withPosts(browser, { body: '<p>one</p>' }, async (page, server, id) => {
      await sees(page, 'one', TEXT)
      await page.evaluate(() => document.querySelector<HTMLElement>('dialog textarea')!.focus())
      await page.press('Tab')
      assertEqual(await focused(page), 'Bold')
      await page.press('ArrowRight')
      assertEqual(await focused(page), 'Italic')
      await page.press('End')
      assertEqual(await focused(page), 'HTML')
      await page.press('Tab')
      assertEqual(await focused(page), 'one')
      await page.press('End')
      await page.press('!')
      await page.press('Enter')
      await page.press('a')
      await page.press('Tab')
      assertEqual(await page.evaluate(() => document.activeElement?.closest('.rich') === null), true)
      await sees(page, 'one!', TEXT)
      // The label leads to it, as to any control.
      await page.evaluate(() =>
        document.querySelector<HTMLElement>('label[id$=label] ~ .rich')!.parentElement!.querySelector('label')!.click(),
      )
      assertEqual(await focused(page), 'one!a')
      await page.press('Escape')
      await sees(page, 'Discard your changes?', 'dialog')
      await cancelQuestion(page)
      await press(page, 'Save')
      await sees(page, 'The record is saved.')
      assertEqual(await bodyOf(server, id), '<p>one!</p><p>a</p>')
    })
  })

  test('HTML that the text would change is shown as source with the reason, and stays to the character', async () => {
    const body = '<p>a</p><table class="x"><tbody><tr><td>1</td></tr></tbody></table>'
    await withPosts(browser, { body }, async (page, server, id) => {
      await sees(page, 'does not know <table>, <tbody>, <tr>, <td>, and would remove it', '.rich-why')
      await isSound(page)
      assertEqual(await sourceOf(page), body)
      await fill(page, 'title', 'Another')
      await press(page, 'Save')
      await sees(page, 'The record is saved.')
      assertEqual(await bodyOf(server, id), body)
      await goTo(page, `/records/posts?record=${id}`)
      await press(page, 'HTML')
      await sees(page, 'Edit as text?', 'dialog')
      await cancelQuestion(page)
      assertEqual(await sourceOf(page), body)
      // In the source it is mended, and then it is a text.
      await fill(page, 'body', '<p>mended</p>')
      await seesNo(page, 'Shown as HTML')
      await press(page, 'HTML')
      await sees(page, 'mended', TEXT)
      await press(page, 'HTML')
      assertEqual(await sourceOf(page), '<p>mended</p>')
      await press(page, 'Save')
      await until(async () => (await bodyOf(server, id)) === '<p>mended</p>')
    })
  })

  test('hostile HTML runs nowhere: not as source, not as text, not when it is pasted', async () => {
    await withPosts(browser, { body: HOSTILE }, async (page, server, id) => {
      await sees(page, 'does not know', '.rich-why')
      assertEqual(await sourceOf(page), HOSTILE)
      await press(page, 'HTML')
      await press(page, 'Edit as text')
      await sees(page, 'Before', TEXT)
      await page.evaluate((html) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/html', html)
        const text = document.querySelector<HTMLElement>('.rich-text')!
        text.focus()
        // Firefox makes no event with what is given.
        const event = new Event('paste', { bubbles: true, cancelable: true })
        text.dispatchEvent(Object.defineProperty(event, 'clipboardData', { value: clipboardData }))
      }, HOSTILE)
      await waitFor(page, 'what was pasted', '', () => document.querySelectorAll('.rich-image').length === 2)
      await new Promise((resolve) => setTimeout(resolve, 100))
      const seen = await page.evaluate(() => [
        String((globalThis as { hacked?: unknown }).hacked),
        document.querySelectorAll('.rich-text :is(script, iframe, [onerror], [onclick], a, [src="x:"])').length,
      ])
      assertEqual(seen, ['undefined', 0])
      await press(page, 'Save')
      await sees(page, 'The record is saved.')
      assertEqual(/script|onerror|onclick|style|iframe/.test(await bodyOf(server, id)), false)
    })
  })

  test('JSON has its error in place and the answer of the server beside it, and is formatted on demand', async () => {
    await withPosts(browser, { extra: { a: [1] } }, async (page, server, id) => {
      await typeCode(page, 'extra', '{"a": [1,}')
      await waitFor(page, 'the error in its place', '', () => {
        const editor = [...document.querySelectorAll('.json .code-host')][0]?.shadowRoot
        return editor?.querySelector('.cm-lintRange-error') instanceof Element
      })
      await press(page, 'Save')
      await sees(page, 'This is not JSON', '.field-wrong')
      await isSound(page)
      const described = await page.evaluate(() => {
        const content = document.querySelector('.json .code-host')!.shadowRoot!.querySelector('.cm-content')!
        return [content.getAttribute('aria-invalid'), content.getAttribute('aria-description')?.slice(0, 16)]
      })
      assertEqual(described, ['true', 'This is not JSON'])
      await typeCode(page, 'extra', '{"a":[1,2,3]}')
      await press(page, 'Save')
      await sees(page, 'The maximum allowed JSON size is 10 bytes', '.field-wrong')
      await typeCode(page, 'extra', '{"a":2}')
      await press(page, 'Format extra')
      await waitFor(page, 'three lines', '', () => {
        const editor = document.querySelector('.json .code-host')!.shadowRoot!
        return editor.querySelectorAll('.cm-line').length === 3
      })
      await press(page, 'Save')
      await sees(page, 'The record is saved.')
      const { extra } = await server.server.backend.records.view(ITSELF, 'posts', id)
      assertEqual(extra, { a: 2 })
    })
  })

  test('the editors are sound on 320 pixels and in the dark', async () => {
    await withPosts(browser, { body: '<p>one <a href="/a">link</a></p>', extra: { a: 1 } }, async (page) => {
      await page.evaluate(() => localStorage.setItem('pannier.admin.theme', '"dark"'))
      await page.reload()
      await sees(page, 'one', TEXT)
      await page.evaluate(() => void (document.querySelector('dialog')!.style.width = '320px'))
      await isSound(page)
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('.rich, .rich-bar, .rich-text, .json')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ className }) => className),
      )
      assertEqual(wide, [])
    })
  })
}

/** A record of `posts`, in its form. */
async function withPosts(
  browser: Browser,
  values: Readonly<Record<string, unknown>>,
  use: (page: Page, server: TestServer, id: string) => Promise<void>,
): Promise<void> {
  let id = ''
  await withServerPage(
    browser,
    '/start',
    async (page, server) => {
      await goTo(page, `/records/posts?record=${id}`)
      await sees(page, 'Record of posts', 'dialog')
      await waitFor(page, 'the toolbar', '', () => document.querySelector('[role=toolbar]') !== null)
      await use(page, server, id)
    },
    async ({ server: { backend } }) => {
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'body', type: 'editor' },
        { name: 'extra', type: 'json', maxSize: 10 },
      ]
      await backend.definitions.create(ITSELF.principal, { name: 'posts', type: 'base', fields })
      id = String((await backend.records.create(ITSELF, 'posts', { title: 'First', ...values }))['id'])
    },
  )
}

async function bodyOf({ server }: TestServer, id: string): Promise<string> {
  return String((await server.backend.records.view(ITSELF, 'posts', id))['body'])
}

/** Selects a text, as a person does with the mouse. */
async function select(page: Page, text: string): Promise<void> {
  await waitFor(page, `the text '${text}'`, text, (wanted) => {
    const root = document.querySelector<HTMLElement>('.rich-text')
    if (root === null) return false
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      if (walker.currentNode.textContent !== wanted) continue
      root.focus()
      getSelection()!.selectAllChildren(walker.currentNode.parentElement!)
      document.dispatchEvent(new Event('selectionchange'))
      return true
    }
    return false
  })
  // The editor hears of it a moment later.
  await new Promise((resolve) => setTimeout(resolve, 60))
}

/** Waits until these buttons of the toolbar, and no others, are pressed. */
async function arePressed(page: Page, names: readonly string[]): Promise<void> {
  await waitFor(page, `pressed: ${names.join(', ')}`, names.join(), (wanted) => {
    const all = [...document.querySelectorAll('.rich-bar [aria-pressed=true]')]
    return all.map((one) => one.getAttribute('aria-label')).join() === wanted
  })
}

/** Questions are the last in the page. */
async function cancelQuestion(page: Page): Promise<void> {
  await page.evaluate(() => {
    const buttons = [...document.querySelectorAll('dialog')].at(-1)!.querySelectorAll('button')
    ;[...buttons].find(({ innerText }) => innerText.trim() === 'Cancel')!.click()
  })
}

async function sourceOf(page: Page): Promise<string> {
  await waitFor(page, 'the source', '', () => document.querySelector('.rich textarea') !== null)
  return page.evaluate(() => document.querySelector<HTMLTextAreaElement>('.rich textarea')!.value)
}
