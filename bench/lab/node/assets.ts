/** The files of the page, made once. The server serves exactly these, and a static build writes them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { assetOf, bundleAssets, readAssets } from '../../../tools/web/bundle.ts'
import type { Asset } from '../../../tools/web/bundle.ts'
import { CONTENDERS } from '../../contenders/catalog.ts'
import { packageVersions } from '../../harness/environment.ts'
import { storedResults } from '../../harness/stored.ts'

const PAGE = join(import.meta.dirname, '..', 'page')
/** The page looks for it next to its own script. */
const OPFS_WORKER = '../../../packages/db/src/storage/opfs/opfs-worker.ts'

/** By name. `results`: the folder with the stored results that every visitor sees. */
export async function makeAssets(results?: string): Promise<ReadonlyMap<string, Asset>> {
  const options: BuildOptions = {
    keepNames: true,
    define: { LAB_VERSIONS: JSON.stringify(packageVersions(CONTENDERS)) },
    plugins: [fileExtensions, withoutEval],
  }
  const made = await Promise.all([
    bundleAssets(PAGE, ['main.ts', 'style.css'], { ...options, splitting: true }),
    // One file each: nothing is fetched during a measurement.
    bundleAssets(PAGE, ['frame.ts', 'worker.ts', OPFS_WORKER], options),
    readAssets(PAGE, ['index.html', 'frame.html']),
  ])
  const stored = Buffer.from(JSON.stringify(storedResults(results)))
  return new Map([...made.flat(), ['stored.json', assetOf('stored.json', stored)]])
}

/** echarts-gl names files of ECharts without the extension that their packages ask for. */
const fileExtensions: Plugin = {
  name: 'file extensions',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(zrender|echarts)\/lib\// }, ({ path, resolveDir, kind }) =>
      path.endsWith('.js') ? undefined : resolve(`${path}.js`, { resolveDir, kind }),
    )
  },
}

/** Replaces the only place of the chart library that compiles text. */
const withoutEval: Plugin = {
  name: 'without eval',
  setup({ onLoad }) {
    onLoad({ filter: /claygl\/src\/createCompositor\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const changed = source.replace(/new Function\([^;]*exprRes\[1\]\)/, 'compileSizes(exprRes[1])')
      if (changed === source) throw new Error(`${path} is not what it was: see lab/page/sizes.ts`)
      return { contents: `import { compileSizes } from ${JSON.stringify(join(PAGE, 'sizes.ts'))}\n${changed}` }
    })
  },
}
