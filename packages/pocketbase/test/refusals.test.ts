/** Goal: an unknown name is found in a file, with its line and another way. Method: texts of files. */
import { expect, test } from 'vitest'
import { refused, refusedIn } from '../src/protocol/refusals.ts'

test.for([
  ['$app.newFilesystem()', '$app.newFilesystem() is not there on Pannier.'],
  ['const files = $app\n  .newFilesystem()', undefined],
  ['onServe((e) => e.next())', 'onServe() is not there on Pannier.'],
  ['const x = $filesystem.s3("bucket")', '$filesystem.s3() is not there on Pannier.'],
  ['$security . randomStringByRegex ("a")', '$security.randomStringByRegex() is not there on Pannier.'],
  ['// $app.newFilesystem()', undefined],
  ['/* \n onServe() */', undefined],
  ['my.onServe()', undefined],
  ['onServed()', undefined],
  ['$app.save(record)', undefined],
] as const)('%s', ([text, message]) => {
  const found = refusedIn(`\n\n${text}`)
  expect(found?.line).toBe(message === undefined ? undefined : 3)
  expect(found?.message.startsWith(message ?? '')).toBe(message === undefined ? undefined : true)
})

test('any other name of $app is refused by its name when it is called', () => {
  expect(refused('$app.other')).toMatch(/^\$app\.other\(\) is not there on Pannier\. Write it as a hook/)
})
