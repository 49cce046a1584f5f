/**
 * Goal: a process that is killed while files come and go leaves all files that were acknowledged, and after the next start no
 * content that no record names. Method: kill -9 at a random moment, on one file. EFFORT=10 kills more often.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'pannier'
import { systemEnvironment } from 'pannier/internal'
import { expect, test } from 'vitest'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { recordsName } from '../../src/definitions/definition.ts'
import { S3Place } from '../../src/files/s3-place.ts'
import type { S3Options } from '../../src/files/s3-place.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { openDrive } from './drive.ts'
import { S3Server } from './s3-server.ts'

const rounds = times(3)
const seed = FIRST_SEED
const LOAD_MS_MAX = 300

interface Message {
  readonly id: string
  /** Undefined: the record is deleted. */
  readonly names?: readonly string[]
}

async function killed(file: string, bucket: S3Options | null, loadMs: number): Promise<readonly Message[]> {
  const child = fork(join(import.meta.dirname, 'killed-process.ts'), [file, JSON.stringify(bucket)], {
    execArgv: ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const messages: Message[] = []
  child.on('message', (message: Message) => messages.push(message))
  const gone = once(child, 'exit')
  while (messages.length === 0) await once(child, 'message')
  await sleep(loadMs)
  child.kill('SIGKILL')
  await gone
  return messages
}

test.each(['attachments', 'a bucket'])(
  `${rounds} kills with %s (SEED=${seed})`,
  { timeout: 120_000 + rounds * 30_000 },
  async (place) => {
    const random = seededRandom(seed)
    const folder = await mkdtemp(join(tmpdir(), 'pannier-files-'))
    const file = join(folder, 'files.sqlite')
    const wanted = new Map<string, readonly string[] | undefined>()
    await using server = await S3Server.start()
    const bucket = place === 'a bucket' ? server.options : null
    try {
      for (let round = 0; round < rounds; round++) {
        const messages = await killed(file, bucket, random.below(LOAD_MS_MAX))
        for (const { id, names } of messages) wanted.set(id, names)
        // The record of the last message may have been changed or deleted already.
        await check(file, bucket, wanted, messages.at(-1)!.id)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)

async function check(
  file: string,
  bucket: S3Options | null,
  wanted: Map<string, readonly string[] | undefined>,
  undecided: string,
): Promise<void> {
  const database = await open(file)
  const drive = await openDrive(database)
  const kept = await drive.kept()
  const { id: collection } = drive.backend.definitions.get('posts')
  const records = await database
    .collection<JsonObject>(recordsName({ id: collection }))
    .find()
    .toArray()
  const stored = new Map(records.map((record) => [record._id, namesOf(record)]))
  wanted.set(undecided, stored.get(undecided))
  for (const [id, names] of wanted) expect([id, stored.get(id)]).toEqual([id, names])
  const keys = [...stored].flatMap(([id, names]) => names.map((name) => `${collection}/${id}/${name}`))
  const isOfRecord = (key: string): boolean => {
    const [, id = '', third = ''] = key.split('/')
    return stored.get(id)?.includes(third.replace(/^thumbs_/, '')) === true
  }
  expect(kept.filter((key) => !isOfRecord(key))).toEqual([])
  if (bucket !== null) {
    const objects: string[] = []
    for await (const { key } of new S3Place(bucket, systemEnvironment()).list('')) objects.push(key)
    expect(objects.filter((key) => !isOfRecord(key))).toEqual([])
    expect(keys.filter((key) => !objects.includes(key))).toEqual([])
  }
  for (const [id, names] of stored)
    for (const name of names) expect(await drive.text({ id, collectionName: 'posts' }, name)).not.toBe(undefined)
  expect((await database.check()).problems).toEqual([])
  await drive.close()
  await database.close()
}

function namesOf({ cover, files }: JsonObject): readonly string[] {
  return [cover as string, ...(files as string[])]
}
