import { expect, test, vi } from 'vitest'

// Other files of this worker may have loaded sharp.
vi.resetModules()
vi.doMock('sharp', () => {
  throw new Error("Cannot find package 'sharp'")
})
const { openDrive, upload } = await import('./drive.ts')

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
