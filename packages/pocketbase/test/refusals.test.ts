/** Goal: an unknown name is found in a file, with its line and another way. Method: texts of files. */
import { expect, test } from 'vitest'
import { absentIn, refusedIn, refusedOfApp } from '../src/protocol/refusals.ts'

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
  ['e.app.restart()', '$app.restart() is not there on Pannier.'],
  ['txApp.auxDB()', '$app.auxDB() is not there on Pannier.'],
  ['my.restart()', undefined],
  ['e.record.newFileToken()', 'newFileToken() is not there on Pannier.'],
  ['new TestEmailSendForm(app)', 'TestEmailSendForm() is not there on Pannier.'],
] as const)('%s', ([text, message]) => {
  const found = refusedIn(`\n\n${text}`)
  expect(found?.line).toBe(message === undefined ? undefined : 3)
  expect(found?.message.startsWith(message ?? '')).toBe(message === undefined ? undefined : true)
})

test('any other name of $app is refused by its name when it is called', () => {
  expect(refusedOfApp('other')).toMatch(/^\$app\.other\(\) is not there on Pannier\. Write it as a hook/)
})

test.for([
  ['onTerminate', '(e) => {\n  if (e.isRestart) return\n}', 2],
  ['onTerminate', 'function handle(event) { return event.isRestart }', 1],
  ['onTerminate', 'async one => one . isRestart', 1],
  ['onTerminate', '(e) => e.isRestarting', undefined],
  ['onTerminate', '(e) => other.e.isRestart', undefined],
  ['onTerminate', '(e) => { // e.isRestart\n}', undefined],
  ['onTerminate', '() => e.isRestart', undefined],
  ['onBootstrap', '(e) => e.isRestart', undefined],
  ['onBackupCreate', '(e) => e.exclude.push("x")', 1],
  ['onRecordAfterCreateError', '(e) => e.context', 1],
  ['onRecordCreateRequest', '(e) => e.context', undefined],
  ['onRecordCreateRequest', '(e) => e.xml(200, {})', 1],
  ['route', '(e) => e.stream(200, "", x)', 1],
] as const)('%s with %j', ([event, handler, line]) => expect(absentIn(handler, event)?.line).toBe(line))
