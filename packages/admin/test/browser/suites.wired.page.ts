/** The page that asks what the editor of text makes of HTML. Each engine has a parser of its own. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { lossesOf } from '../../src/parts/html-editor/losses.ts'
import { htmlOf, inertBody, isSafeLink, parseHtml } from '../../src/parts/html-editor/schema.ts'

/** Written as they are: some by TinyMCE, which PocketBase's page has. */
const KEPT = [
  '',
  '<p>Text</p>',
  '<p>One</p>\n<p>&nbsp;</p>\n<h2>Two &amp; &eacute;</h2>',
  '<ul>\n<li>one</li>\n<li>two\n<ol start="3">\n<li><strong>three</strong></li>\n</ol>\n</li>\n</ul>',
  '<ul><li><p>one</p><p>more</p></li></ul>',
  '<p><em><strong>both</strong></em> <b>b</b><i>i</i><del>d</del><s>s</s><u>u</u><code>c</code></p>',
  '<p>a <b>b </b>c<br>d</p>',
  '<blockquote>\n<p>quoted</p>\n</blockquote>\n<hr>',
  '<pre><code>two  spaces\n  and a line </code></pre>',
  '<p><a href="https://a.example/?b=1&amp;c=2" target="_blank" rel="noopener" title="t">link</a></p>',
  '<p><img src="/api/files/a/b/c.png" alt="A picture" width="20" height="10"></p>',
]

/** The reasons by the HTML; none: it would be written otherwise. */
const LOST: Readonly<Record<string, readonly string[]>> = {
  'Text without a paragraph': [],
  '<p>a</p>tail': [],
  '<li>alone</li>': [],
  '<p></p><p>a</p><b></b>': [],
  '<p>a <!-- why --> b</p>': [],
  '<!doctype html><p>a</p>': [],
  '<body class="x"><p>a</p></body>': [],
  '<td>a cell without a table</td>': [],
  '<p>a</p><p': [],
  '<pre>no code</pre>': [],
  '<b><p>around</p></b>': [],
  '<p>a</p><table><tbody><tr><td>1</td></tr></tbody></table>': ['<table>', '<tbody>', '<tr>', '<td>'],
  '<p class="lead" style="text-align:center">a</p>': ['class', 'style'],
  '<p data-tight="">a</p>': ['data-tight'],
  '<ul><li data-tight="">a</li></ul>': ['data-tight'],
  '<p>a<script>globalThis.hacked = 1</script></p>': ['<script>'],
  '<p><img src="x" onerror="globalThis.hacked = 1"></p>': ['onerror'],
  '<p><a href="javascript:hacked = 1">a</a></p>': ['href="javascript:hacked = "'],
  '<p><a href=" java\nscript:hacked=1">a</a></p>': ['href=" java\nscript:hacked="'],
  '<p STYLE = color:red>a</p>': ['style'],
  '<style>p { color: red }</style><p>a</p>': ['<style>'],
  '<img src="x"onerror=hacked=1>': ['onerror'],
  '<p><a name="here"></a>a</p>': ['name'],
  '<svg onload="globalThis.hacked = 1"><path d="M0 0"></path></svg>': ['<svg>', '<path>', 'onload'],
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>': ['<iframe>'],
  '<math><mtext><style><img src=x onerror="hacked=1"></style></mtext></math>': [
    '<math>',
    '<mtext>',
    '<style>',
    'onerror',
  ],
}

void runCases((test) => {
  test('html: what the editor knows is written as it was, and is read the same again', () => {
    for (const html of KEPT) {
      assertEqual([html, lossesOf(html)], [html, undefined])
      const written = htmlOf(parseHtml(html))
      assertEqual(htmlOf(parseHtml(written)), written)
      assertEqual(lossesOf(written), undefined)
    }
  })

  test('html: what the editor would change is found, and named', () => {
    for (const [html, unknown] of Object.entries(LOST)) {
      const losses = lossesOf(html)
      assertEqual([html, losses?.isOtherwise], [html, unknown.length === 0])
      assertEqual([html, losses?.unknown.toSorted()], [html, unknown.toSorted()])
    }
  })

  test('html: nothing of a text that is read is run, and nothing hostile is written', async () => {
    const found = globalThis as { hacked?: unknown }
    for (const html of Object.keys(LOST)) {
      inertBody(html)
      const written = htmlOf(parseHtml(html))
      assertEqual(/script|onerror|onload|srcdoc|<svg|<math/i.test(written), false)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
    assertEqual(found.hacked, undefined)
  })

  test('html: a link leads to no script', () => {
    const safe = ['https://a.example', 'http://a', '/path', 'page#part', '?a=1', 'mailto:a@b.example', 'tel:+49']
    const unsafe = [
      'javascript:a',
      ' JavaScript:a',
      'java\tscript:a',
      'data:text/html,a',
      'vbscript:a',
      'blob:a',
      'file:///a',
    ]
    assertEqual(
      safe.filter((href) => !isSafeLink(href)),
      [],
    )
    assertEqual(unsafe.filter(isSafeLink), [])
  })
})
