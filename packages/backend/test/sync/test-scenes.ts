/** Tests of scenes, and of what they find when a repair is switched off. */
import { expect, test } from 'vitest'
import { importMutant } from '../../../../tools/test/mutants.ts'
import { Scene, type SceneCase } from './scene.ts'

const FOLDERS = ['packages/backend/src/sync', 'packages/backend/test/sync', 'packages/rules/src']
const VIOLATION = /^(too many|missing|stale|leak|stuck|wrong): /

/** Tests that each case holds, and that it does not hold without a repair. */
export function testScenes(cases: readonly SceneCase[]): void {
  for (const each of cases) {
    test(each.name, () => Scene.play(each))
    for (const mutation of each.without)
      test(`${each.name}; the test fails without: ${mutation.text}`, async () => {
        type Module = { readonly Scene: typeof Scene }
        const mutant = await importMutant<Module>('packages/backend/test/sync/scene.ts', mutation, FOLDERS)
        await expect(mutant.Scene.play(each)).rejects.toThrow(VIOLATION)
      })
  }
}
