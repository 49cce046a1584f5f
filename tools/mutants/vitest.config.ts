/** The configuration of the checkout that vitest runs in, with mutants. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import type { TestSpecification } from 'vitest/node'
import type { ViteUserConfig } from 'vitest/config'
import { editor } from './edits.ts'
import { MutantReporter } from './reporter.ts'

const here = import.meta.dirname
const suite = (await import(pathToFileURL(join(process.cwd(), 'vitest.config.ts')).href)) as { default: ViteUserConfig }
const { plugins = [], test = {}, ...config } = suite.default
const edited = editor()

const mutated: Plugin = {
  name: 'mutated',
  enforce: 'pre',
  load: (id) => edited(id, () => readFileSync(id, 'utf8')),
}

/** The command line names the files in the order in which they run. */
class AsGiven {
  sort(files: TestSpecification[]): TestSpecification[] {
    const place = ({ moduleId }: TestSpecification): number => process.argv.indexOf(moduleId)
    return files.toSorted((left, right) => place(left) - place(right))
  }

  shard(files: TestSpecification[]): TestSpecification[] {
    return files
  }
}

const withMutants: ViteUserConfig = {
  ...config,
  plugins: [mutated, ...plugins],
  test: {
    ...test,
    execArgv: [...(test.execArgv ?? []), '--max-old-space-size=3000', `--import=${join(here, 'hook.ts')}`],
    setupFiles: [join(here, 'setup.ts'), ...[test.setupFiles ?? []].flat()],
    sequence: { ...test.sequence, sequencer: AsGiven },
    reporters: [new MutantReporter()],
    cache: false,
  },
}

export default withMutants
