/** Goal: settings are as in PocketBase, survive, and never show a secret. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { GUEST, openBackend, SYSTEM } from '../../src/index.ts'
import { Settings } from '../../src/settings/settings.ts'

const DEFAULTS =
  '{"superuserIPs":[],"smtp":{"enabled":false,"port":587,"host":"smtp.example.com","username":"","authMethod":"","tls":false,"localName":""},"backups":{"cron":"","cronMaxKeep":3,"s3":{"enabled":false,"bucket":"","region":"","endpoint":"","accessKey":"","forcePathStyle":false}},"s3":{"enabled":false,"bucket":"","region":"","endpoint":"","accessKey":"","forcePathStyle":false},"meta":{"accentColor":"#1055c9","appName":"Acme","appURL":"http://localhost:8090","senderName":"Support","senderAddress":"support@example.com","hideControls":false},"rateLimits":{"rules":[{"label":"*:auth","audience":"","duration":3,"maxRequests":2},{"label":"*:create","audience":"","duration":5,"maxRequests":20},{"label":"/api/batch","audience":"","duration":1,"maxRequests":3},{"label":"/api/","audience":"","duration":10,"maxRequests":300}],"excludedIPs":[],"enabled":false},"trustedProxy":{"headers":[],"useLeftmostIP":false},"batch":{"enabled":false,"maxRequests":50,"timeout":3,"maxBodySize":0},"logs":{"maxDays":5,"minLevel":0,"logIP":true,"logAuthId":false}}'

async function opened(): Promise<Settings> {
  return Settings.open(await open('settings', { storage: memory() }))
}

test('the defaults are those of PocketBase, in its order', async () => {
  const settings = await opened()
  expect(JSON.stringify(settings.show(SYSTEM))).toBe(DEFAULTS)
  expect(() => settings.show(GUEST)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
  await expect(settings.update(GUEST, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('what is left out stays, what is unknown is ignored, and secrets are not shown', async () => {
  const database = await open('settings', { storage: memory() })
  const settings = await Settings.open(database)
  const shown = await settings.update(SYSTEM, {
    nope: 1,
    meta: { appName: 'New', zz: 1 },
    smtp: { password: 'secret' },
    rateLimits: { rules: null },
    s3: null,
    superuserIPs: ['10.0.0.0/8', '::1'],
  })
  expect(JSON.stringify(shown)).not.toContain('secret')
  expect(shown).toMatchObject({ meta: { appName: 'New', senderName: 'Support' }, rateLimits: { rules: [] } })
  const again = await Settings.open(database)
  expect(again.values).toEqual(settings.values)
  expect(again.values.smtp.password).toBe('secret')
  const from = ['10.1.2.3', '11.1.2.3', '::1', '::2', 'x', undefined]
  expect(from.map((address) => again.allowsSuperuserAt(address))).toEqual([true, false, true, false, false, false])
})

test('a value of a wrong type changes nothing', async () => {
  const settings = await opened()
  const wrong = [
    { meta: { appName: 5 } },
    { meta: [] },
    { smtp: { port: '5' } },
    { logs: { maxDays: 1.5 } },
    { superuserIPs: [1] },
    { rateLimits: { rules: [1] } },
  ]
  for (const input of wrong)
    await expect(settings.update(SYSTEM, input)).rejects.toMatchObject({
      code: 'INVALID',
      message: 'An error occurred while loading the submitted data.',
    })
  expect(JSON.stringify(settings.show(SYSTEM))).toBe(DEFAULTS)
})

test('each wrong value is named with the code of PocketBase', async () => {
  const settings = await opened()
  const input = {
    superuserIPs: ['a', '1.2.3.4'],
    smtp: { enabled: true, port: 0, host: '', authMethod: 'x', localName: 'a b' },
    backups: { cron: 'x', cronMaxKeep: 0, s3: { enabled: true, endpoint: 'a b' } },
    s3: { enabled: true },
    meta: { appName: '', appURL: 'x y', senderName: '', senderAddress: 'a', accentColor: 'red' },
    rateLimits: {
      enabled: true,
      rules: [{ label: 'a b c', audience: 'x', duration: 0, maxRequests: 0 }],
      excludedIPs: ['x'],
    },
    batch: { enabled: true, maxRequests: 0, timeout: 0, maxBodySize: -1 },
    logs: { maxDays: -1 },
  }
  const { data } = (await settings.update(SYSTEM, input).catch((error: unknown) => error)) as { data: object }
  const blank = 'validation_required'
  expect(codesIn(data)).toEqual({
    superuserIPs: { 0: 'validation_invlaid_ip_or_subnet' },
    smtp: { host: blank, port: blank, authMethod: 'validation_in_invalid', localName: 'validation_is_host' },
    backups: {
      cron: 'validation_invalid_cron',
      cronMaxKeep: blank,
      s3: { endpoint: 'validation_is_url', bucket: blank, region: blank, accessKey: blank, secret: blank },
    },
    s3: { endpoint: blank, bucket: blank, region: blank, accessKey: blank, secret: blank },
    meta: {
      accentColor: 'validation_length_invalid',
      appName: blank,
      appURL: 'validation_is_url',
      senderName: blank,
      senderAddress: 'validation_is_email',
    },
    rateLimits: {
      rules: {
        0: {
          label: 'validation_match_invalid',
          maxRequests: blank,
          duration: blank,
          audience: 'validation_in_invalid',
        },
      },
      excludedIPs: { 0: 'validation_invlaid_ip_or_subnet' },
    },
    batch: { maxRequests: blank, timeout: blank, maxBodySize: 'validation_min_greater_equal_than_required' },
    logs: { maxDays: 'validation_min_greater_equal_than_required' },
  })
  const twice = [1, 2].map((maxRequests) => ({ label: '*:auth', audience: '', duration: 1, maxRequests }))
  await expect(settings.update(SYSTEM, { rateLimits: { rules: twice } })).rejects.toMatchObject({
    data: { rateLimits: { rules: { 1: { label: { code: 'validation_conflicting_rate_limit_rule' } } } } },
  })
})

test('another handle sees a change', async () => {
  const environment = virtualEnvironment()
  const database = await open('settings', { storage: memory(), environment })
  const [one, other] = [await openBackend(database), await Settings.open(database)]
  await one.settings.update(SYSTEM, { batch: { enabled: true } })
  await environment.idle()
  expect(other.values.batch.enabled).toBe(true)
})

/** The code of each value. */
function codesIn(data: object): object {
  if ('code' in data) return data.code as object
  return Object.fromEntries(Object.entries(data).map(([name, inner]: [string, object]) => [name, codesIn(inner)]))
}
