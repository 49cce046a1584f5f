/** Encrypted stores, and their passwords. */
import { assertEqual } from 'pannier/testing'
import type { Case } from './rows.ts'

const PEOPLE = { people: { searchFields: { name: 'string' } } } as const

export const encryptionCases: readonly Case[] = [
  {
    name: 'a password encrypts the store; another one, or none, opens nothing',
    rows: ['init: password', 'fileInfo', 'destroy'],
    codes: [-3, 11],
    async run(lab) {
      const store = lab.store()
      for (const password of ['', 5]) await lab.fails(store.init(PEOPLE, { password: password as string }), 11)
      const { people } = await store.init(PEOPLE, { password: 'secret' })
      await people.add({ name: 'Ann' })
      assertEqual((await store.fileInfo())[0]?.isEncrypted, true)
      // While it is open the password is not asked for again, but a wrong one is refused.
      await lab.fails(store.init({ orders: {} }, { password: 'wrong' }), -3)
      await store.init({ orders: {} }, { password: 'secret' })
      await store.init({ bills: {} })
      await store.get('bills')!.add({ sum: 5 })
      await store.closeAll()
      await lab.fails(store.init(PEOPLE), -3)
      await lab.fails(store.init(PEOPLE, { password: 'Secret' }), -3)
      const { people: again } = await store.init(PEOPLE, { password: 'secret' })
      assertEqual(await again.find({ name: 'an' }), [{ _id: 1, json: { name: 'Ann' } }])
      await store.closeAll()
      // A plain one stays plain.
      const { people: ofBob } = await store.init(PEOPLE, { username: 'bob' })
      await ofBob.add({ name: 'Bob' })
      await lab.fails(store.init({ orders: {} }, { username: 'bob', password: 'secret' }), -3)
      assertEqual(
        (await store.fileInfo()).map(({ name, isEncrypted, size }) => [name, isEncrypted, size > 200]),
        [
          ['bob', false, true],
          ['jsonstore', true, true],
        ],
      )
      await store.closeAll()
      await lab.fails(store.init(PEOPLE, { username: 'bob', password: 'secret' }), -3)
      // Who has forgotten the password can begin again.
      assertEqual(await store.destroy(), 0)
      assertEqual(await (await store.init(PEOPLE, { password: 'other' })).people.count(), 0)
    },
  },
  {
    name: 'changePassword',
    rows: ['changePassword'],
    codes: [24, 11, -50, -7, -41],
    async run(lab) {
      const store = lab.store()
      await lab.fails(store.changePassword('a', 'b'), -50)
      const { people } = await store.init(PEOPLE, { password: 'first' })
      await people.add({ name: 'Ann' })
      await lab.fails(store.changePassword('first', ''), 11)
      await lab.fails(store.changePassword(5 as never, 'x'), 11)
      await lab.fails(store.changePassword('wrong', 'second'), 24)
      await lab.fails(store.changePassword('first', 'second', 'ann'), 24)
      await lab.fails(store.changePassword('first', 'second', 'no-name'), -7)
      await store.startTransaction()
      await lab.fails(store.changePassword('first', 'second'), -41)
      await store.commitTransaction()
      assertEqual(await store.changePassword('first', 'second', 'jsonstore'), 0)
      assertEqual(await people.count(), 1)
      await store.closeAll()
      await lab.fails(store.init(PEOPLE, { password: 'first' }), -3)
      assertEqual(await (await store.init(PEOPLE, { password: 'second' })).people.count(), 1)
      await store.closeAll()
      await store.init(PEOPLE, { username: 'bob' })
      await lab.fails(store.changePassword('first', 'second'), 24)
      await lab.fails(store.changePassword('first', 'second', 'bob'), 24)
      await store.closeAll()
      // Without a name it is that of the user without a name, whatever store is open.
      const { people: ofAnn } = await store.init(PEOPLE, { username: 'ann', password: 'one' })
      await lab.fails(store.changePassword('one', 'two', null), 24)
      assertEqual(await store.changePassword('one', 'two', 'ann'), 0)
      assertEqual(await ofAnn.count(), 0)
    },
  },
  {
    name: 'localKeyGen: false asks for randomness before a store is made, and only then',
    rows: ['init: localKeyGen'],
    codes: [16],
    async run(lab) {
      let asked = 0
      const secureRandom = (): Promise<string> => {
        asked++
        return asked === 1 ? Promise.reject(new Error('no network')) : Promise.resolve('0123456789abcdef')
      }
      const store = lab.store({ secureRandom })
      const options = { password: 'secret', localKeyGen: false }
      await lab.fails(store.init(PEOPLE, options), 16)
      await store.init(PEOPLE, options)
      await store.closeAll()
      await store.init(PEOPLE, options)
      await store.closeAll()
      await store.init(PEOPLE, { username: 'bob', password: 'secret', localKeyGen: true })
      assertEqual(asked, 2)
    },
  },
  {
    name: 'a password for initCollection',
    rows: ['usePassword', 'clearPassword', 'initCollection'],
    codes: [-3],
    async run(lab) {
      const store = lab.store()
      const opened = (): PromiseLike<number> => lab.accessor(store.initCollection('people', { name: 'string' })).promise
      assertEqual([store.usePassword(''), store.usePassword(5 as never), store.clearPassword()], [false, false, false])
      assertEqual(store.usePassword('secret'), true)
      assertEqual(await opened(), 0)
      assertEqual(await opened(), 1)
      await store.closeAll()
      assertEqual([store.clearPassword(), store.clearPassword()], [true, false])
      await lab.fails(opened(), -3)
      store.usePassword('secret')
      assertEqual(await opened(), 1)
    },
  },
]
