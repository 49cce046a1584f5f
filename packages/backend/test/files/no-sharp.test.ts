import { expect, test } from 'vitest'
import { importMutant, type Mutation } from '../../../../tools/test/mutants.ts'
import type * as drives from './drive.ts'

const NOT_INSTALLED: Mutation = {
  file: 'packages/backend/src/files/make-thumb.ts',
  text: "import('sharp')",
  replacement: "import('sharp-that-is-not-installed')",
}
const { openDrive, upload } = await importMutant<typeof drives>('packages/backend/test/files/drive.ts', NOT_INSTALLED, [
  'packages/backend/src',
  'packages/backend/test/files',
])

test('without sharp pictures are served as they are, and the log says so once', async () => {
  const drive = await openDrive()
  for (let count = 0; count < 3; count++) {
    const post = await drive.create({ cover: upload(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'a.png') })
    expect((await drive.thumb(post, post['cover'], '70x50')).name).toBe(post['cover'])
  }
  const said = drive.printed.filter(({ message }) => message.includes('sharp is not installed'))
  expect(said.length).toBe(1)
  await drive.close()
})
