/** Tests of scenes, and at night of what they find when a repair is switched off. */
import { expect, test } from 'vitest'
import { checkPlaces, importMutant } from '../../../../tools/test/mutants.ts'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'
import { Scene, type SceneCase } from './scene.ts'

const FOLDERS = ['packages/backend/src/sync', 'packages/backend/test/sync', 'packages/rules/src']
const VIOLATION = /^(too many|missing|stale|leak|stuck|wrong): /

/** Tests that each case holds; at night that it does not hold without a repair. */
export function testScenes(cases: readonly SceneCase[]): void {
  test('the source has each repair once', () => checkPlaces(cases.flatMap(({ without }) => without)))
  for (const each of cases) {
    test(each.name, () => Scene.play(each))
    for (const mutation of EVERYWHERE ? each.without : [])
      test(`${each.name}; the test fails without: ${mutation.text}`, async () => {
        type Module = { readonly Scene: typeof Scene }
        const mutant = await importMutant<Module>('packages/backend/test/sync/scene.ts', mutation, FOLDERS)
        await expect(mutant.Scene.play(each)).rejects.toThrow(VIOLATION)
      })
  }
}
