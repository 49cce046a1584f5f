/**
 * Builds the admin page. The server reads it from one file, `packages/server/dist/admin.json`: an object of files by name, each compressed
 * by gzip and written as Base64. All names but those of `index.html` and the icon have a hash of the content.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { PAGE_BUILD } from './bundle.ts'

const FOLDER = resolve(import.meta.dirname, '../../packages/admin/src')
export const ADMIN_FILE: string = resolve(import.meta.dirname, '../../packages/server/dist/admin.json')
const ENTRIES = ['main.tsx', 'style/main.css']
/** Where `index.html` names the files of the first load. */
const MARK = '<!-- FILES -->'
/** Has no hash in its name, as a browser asks for it by that name for good. */
const WORKER = 'service-worker'

/** A sheet that a module imports is a file of its own; the module gets its address. React loads it with what names it. */
const sheetsOfViews: Plugin = {
  name: 'sheets of views',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.css$/ }, ({ kind, path, resolveDir }) =>
      kind === 'import-statement' ? { path: join(resolveDir, path), namespace: 'sheet' } : undefined,
    )
    onLoad({ filter: /./, namespace: 'sheet' }, async ({ path }) => {
      const { outputFiles } = await build({ ...PAGE_BUILD, entryPoints: [path], minify: true })
      return { contents: outputFiles[0]!.contents, loader: 'file' }
    })
  },
}

export interface BuiltAdminPage {
  /** Compressed, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Files that a browser loads before anything is shown; the rest is loaded on demand. */
  readonly first: readonly string[]
}

/** `banner`: a comment that makes another version of the page. */
export async function buildAdminPage(banner = ''): Promise<BuiltAdminPage> {
  const { outputFiles, metafile } = await build({
    ...PAGE_BUILD,
    absWorkingDir: FOLDER,
    entryPoints: ENTRIES.map((name) => join(FOLDER, name)),
    outdir: '/',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    plugins: [sheetsOfViews],
    splitting: true,
    minify: true,
    metafile: true,
    jsx: 'automatic',
    banner: { js: banner, css: banner },
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const scripts = firstScripts(metafile)
  const styles = Object.keys(metafile.outputs)
    .filter((path) => metafile.outputs[path]!.entryPoint?.endsWith('main.css'))
    .map((path) => basename(path))
  const html = await readFile(join(FOLDER, 'index.html'), 'utf8')
  const files = new Map<string, Uint8Array>(outputFiles.map(({ path, contents }) => [basename(path), pack(contents)]))
  files.set('index.html', pack(Buffer.from(html.replace(MARK, tagsOf(scripts, styles)))))
  files.set('favicon.svg', pack(await readFile(join(import.meta.dirname, 'favicon.svg'))))
  files.set(`${WORKER}.js`, pack(await buildWorker(files)))
  return { files, first: ['index.html', ...styles, ...scripts] }
}

/** Builds the worker, which knows the names of all files. A change of any is another version. */
async function buildWorker(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  const names = [...files.keys()].filter((name) => name !== 'index.html')
  const version = createHash('sha256').update(names.join()).update(files.get('index.html')!).digest('hex').slice(0, 12)
  const { outputFiles } = await build({
    ...PAGE_BUILD,
    entryPoints: [join(FOLDER, `${WORKER}.ts`)],
    outdir: '/',
    format: 'iife',
    minify: true,
    // The page itself has no name.
    define: { FILES: JSON.stringify(['', ...names]), VERSION: JSON.stringify(version) },
  })
  return outputFiles[0]!.contents
}

/** Another process may read the file at the same time. */
export async function writeAdminPage(): Promise<void> {
  const { files } = await buildAdminPage()
  const texts = Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]))
  await mkdir(dirname(ADMIN_FILE), { recursive: true })
  const unfinished = `${ADMIN_FILE}.${process.pid}`
  await writeFile(unfinished, JSON.stringify(texts))
  await rename(unfinished, ADMIN_FILE)
}

/** The entry, and what it imports at once. */
function firstScripts({ outputs }: Metafile): string[] {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint?.endsWith('main.tsx'))!
  const found = new Set([entry])
  for (const path of found)
    for (const { path: imported, kind } of outputs[path]!.imports) if (kind === 'import-statement') found.add(imported)
  return [...found].map((path) => basename(path))
}

/** Sheets of views come behind that of the page, as they have the same precedence for React. */
function tagsOf([main, ...shared]: readonly string[], styles: readonly string[]): string {
  return [
    ...styles.map((name) => `<link rel="stylesheet" href="${name}" data-precedence="page" />`),
    ...shared.map((name) => `<link rel="modulepreload" href="${name}" />`),
    `<script type="module" src="${main}"></script>`,
  ].join('\n    ')
}

function pack(content: Uint8Array): Uint8Array {
  return gzipSync(content, { level: 9 })
}
