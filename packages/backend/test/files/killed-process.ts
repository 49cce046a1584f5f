/**
 * Uploads, changes and deletes without a pause, in a process that is killed: `killed-process.ts FILE BUCKET`. It sends what is
 * acknowledged. BUCKET: the settings as JSON; 'null': none.
 */
import { open } from 'pannier'
import type { S3Options } from '../../src/files/s3-place.ts'
import { openDrive, picture, upload } from './drive.ts'

const [, , file = '', bucket = 'null'] = process.argv
const database = await open(file)
const drive = await openDrive(database)
await drive.useBucket((JSON.parse(bucket) as S3Options | null) ?? undefined)
const image = await picture(60, 40)

for (let n = 0; ; n++) {
  const post = await drive.create({ cover: image, files: [upload(`${n}`), upload(`more ${n}`)] })
  process.send!({ id: post['id'], names: [post['cover'], ...(post['files'] as string[])] })
  await drive.thumb(post, post['cover'], '70x50')
  if (n % 2 === 0) continue
  const changed = await drive.update(post, { cover: upload('other'), 'files-': (post['files'] as string[])[0] })
  process.send!({ id: post['id'], names: [changed['cover'], ...(changed['files'] as string[])] })
  if (n % 3 !== 0) continue
  await drive.delete(post)
  process.send!({ id: post['id'], names: undefined })
}
