/** Goal: no name of PocketBase's code is forgotten: it is there, or is refused by name. Method: its names by owner, from its own types. */
import { expect, test } from 'vitest'
import { ABSENT_OF_MODELS, refusedIn } from '../src/protocol/refusals.ts'
import { APIS, MAILS } from '../src/thread/apis.ts'
import { App } from '../src/thread/app.ts'
import { Collection, FieldsList } from '../src/thread/collection.ts'
import { DateTime } from '../src/thread/dates.ts'
import { DBX } from '../src/thread/dbx.ts'
import { FILESYSTEM } from '../src/thread/files.ts'
import { FILEPATH, HTTP, OS, SECURITY } from '../src/thread/libraries.ts'
import { Record as PocketRecord } from '../src/thread/record.ts'

/** Names in a text, with spaces between. */
function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

const OF_APP = words(`
  unsafeWithoutHooks logger isBootstrapped isTransactional txInfo bootstrap resetBootstrapState dataDir encryptionEnv isDev
  settings store cron subscriptionsBroker newMailClient newFilesystem newBackupsFilesystem reloadSettings createBackup
  restoreBackup restart runSystemMigrations runAppMigrations runAllMigrations db concurrentDB nonconcurrentDB auxDB
  auxConcurrentDB auxNonconcurrentDB hasTable auxHasTable tableColumns tableInfo tableIndexes deleteTable deleteView saveView
  createViewFields dryRunView findRecordByViewFile vacuum auxVacuum modelQuery auxModelQuery delete deleteWithContext
  auxDelete auxDeleteWithContext save saveWithContext saveNoValidate saveNoValidateWithContext auxSave auxSaveWithContext
  auxSaveNoValidate auxSaveNoValidateWithContext validate validateWithContext runInTransaction auxRunInTransaction logQuery
  findLogById logsStats deleteOldLogs collectionQuery findAllCollections reloadCachedCollections findCollectionByNameOrId
  findCachedCollectionByNameOrId findCollectionReferences findCachedCollectionReferences isCollectionNameUnique
  truncateCollection importCollections importCollectionsByMarshaledJSON syncRecordTableSchema findAllExternalAuthsByRecord
  findAllExternalAuthsByCollection findFirstExternalAuthByExpr deleteAllExternalAuthsByRecord findAllMFAsByRecord
  findAllMFAsByCollection findMFAById deleteAllMFAsByRecord deleteExpiredMFAs findAllOTPsByRecord findAllOTPsByCollection
  findOTPById deleteAllOTPsByRecord deleteExpiredOTPs findAllAuthOriginsByRecord findAllAuthOriginsByCollection
  findAuthOriginById findAuthOriginByRecordAndFingerprint deleteAllAuthOriginsByRecord recordQuery findRecordById
  findRecordsByIds findAllRecords findFirstRecordByData findRecordsByFilter findFirstRecordByFilter countRecords
  findAuthRecordByToken findAuthRecordByEmail canAccessRecord expandRecord expandRecords
`)
const OF_RECORD = words(`
  collection tableName postScan hookTags baseFilesPath original fresh clone expand setExpand mergeExpand fieldsData
  customData withCustomData ignoreEmailVisibility ignoreUnchangedFields setRaw setIfFieldExists set getRaw get load getBool
  getString getInt getFloat getDateTime getGeoPoint getStringSlice getUnsavedFiles getUploadedFiles unmarshalJSONField
  expandedOne expandedAll findFileFieldByFile dbExport hide unhide publicExport unmarshalJSON marshalJSON replaceModifiers
  email setEmail emailVisibility setEmailVisibility verified setVerified tokenKey setTokenKey refreshTokenKey setPassword
  setRandomPassword validatePassword newStaticAuthToken newAuthToken newVerificationToken newPasswordResetToken
  newEmailChangeToken newFileToken isSuperuser lastSavedPK pk isNew markAsNew markAsNotNew
`)
const OF_COLLECTION = words(`
  addIndex baseFilesPath dbExport getIndex integrityChecks isAuth isBase isView isNew marshalJSON postScan removeIndex string
  tableName unmarshalJSON lastSavedPK pk markAsNew markAsNotNew
`)
const LIBRARIES: Readonly<Record<string, readonly [object: object, names: string]>> = {
  $apis: [
    APIS,
    'static requireGuestOnly requireAuth requireSuperuserAuth requireSuperuserOrOwnerAuth skipSuccessActivityLog gzip bodyLimit recordAuthResponse enrichRecord enrichRecords',
  ],
  $dbx: [DBX, 'exp hashExp not and or in notIn like orLike notLike orNotLike exists notExists between notBetween'],
  $filepath: [FILEPATH, 'base clean dir ext fromSlash glob isAbs join match rel split splitList toSlash walk walkDir'],
  $filesystem: [FILESYSTEM, 's3 local fileFromPath fileFromBytes fileFromMultipart fileFromURL'],
  $http: [HTTP, 'send'],
  $mails: [
    MAILS,
    'sendRecordPasswordReset sendRecordVerification sendRecordChangeEmail sendRecordOTP sendRecordAuthAlert',
  ],
  $os: [
    OS,
    'args exec cmd exit getenv dirFS stat readFile writeFile readDir tempDir truncate getwd mkdir mkdirAll rename remove removeAll openRoot openInRoot',
  ],
  $security: [
    SECURITY,
    'md5 sha256 sha512 hs256 hs512 equal randomString randomStringByRegex randomStringWithAlphabet pseudorandomString pseudorandomStringWithAlphabet parseUnverifiedJWT parseJWT createJWT encrypt decrypt',
  ],
}

function isRefused(use: string): boolean {
  return refusedIn(use) !== undefined
}

test('each function of $app is there, or is refused in a file', () => {
  for (const name of OF_APP)
    expect([name, Reflect.has(App.prototype, name), isRefused(`$app.${name}(x)`)]).toEqual([
      name,
      expect.any(Boolean),
      !Reflect.has(App.prototype, name),
    ])
})

test('each method of a record is there, or is refused in a file and when it is called', () => {
  for (const name of OF_RECORD) {
    const isThere = name in PocketRecord.prototype && !ABSENT_OF_MODELS.has(name)
    expect([name, isThere, isRefused(`e.record.${name}(x)`)]).toEqual([name, isThere, !isThere])
  }
})

test.for(Object.entries(LIBRARIES))(
  'each name of %s is there, or is refused in a file',
  ([library, [object, names]]) => {
    for (const name of words(names))
      expect([name, isRefused(`${library}.${name}(x)`)]).toEqual([name, !Object.hasOwn(object, name)])
  },
)

test('methods of collections, lists of fields and dates are there', () => {
  const missing = (made: object, names: readonly string[]): readonly string[] => names.filter((name) => !(name in made))
  expect(missing(Collection.prototype, OF_COLLECTION).filter((name) => !isRefused(`e.collection.${name}(x)`))).toEqual(
    [],
  )
  expect(
    missing(
      FieldsList.prototype,
      words('fieldNames asMap getById getByName removeById removeByName add addAt addMarshaledJSON addMarshaledJSONAt'),
    ),
  ).toEqual([])
  expect(
    missing(DateTime.prototype, words('time add sub addDate after before compare equal unix isZero string')),
  ).toEqual([])
})

test.for(['AppleClientSecretCreateForm', 'TestEmailSendForm', 'TestS3FilesystemForm', 'onServe'])(
  '%s is refused',
  (name) => expect(isRefused(`new ${name}(app)`)).toBe(true),
)
