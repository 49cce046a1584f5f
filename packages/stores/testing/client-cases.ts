/** Cases of a client of `@pannier/client`: its state, the writes that were refused, and what its rules admit. */
import { assertEqual } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding, ShownState } from './binding.ts'
import { aWhile, becomes, last } from './fixture.ts'

const GUEST: ShownState = { status: 'starting', unsent: 0, account: undefined }

/** The part of a client that hooks know. It calls back soon, as the real one does. */
class FakeClient {
  state = GUEST
  rejected: readonly string[] = []
  readonly asked: (readonly unknown[])[] = []
  readonly #listeners = new Set<() => void>()
  #mayDelete = true

  get listeners(): number {
    return this.#listeners.size
  }

  subscribeState(listener: (state: ShownState) => void): () => void {
    return this.#subscribe(() => listener(this.state))
  }

  subscribeRejected(listener: (rejected: readonly string[]) => void): () => void {
    return this.#subscribe(() => listener([...this.rejected]))
  }

  subscribeCan(question: readonly unknown[], listener: (answer: boolean | undefined) => void): () => void {
    this.asked.push(question)
    return this.#subscribe(() => listener(question[0] === 'delete' ? this.#mayDelete : true))
  }

  change(change: { readonly state?: Partial<ShownState>; rejected?: readonly string[]; mayDelete?: boolean }): void {
    this.state = { ...this.state, ...change.state }
    this.rejected = change.rejected ?? this.rejected
    this.#mayDelete = change.mayDelete ?? this.#mayDelete
    for (const listener of this.#listeners) listener()
  }

  #subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    queueMicrotask(() => {
      if (this.#listeners.has(listener)) listener()
    })
    return () => this.#listeners.delete(listener)
  }
}

export function clientCases({ test, create }: SuiteContext<() => Binding>): void {
  test('sync: the state of the client is shown, and each change', async () => {
    const client = new FakeClient()
    const shown = create().mount('sync', { client })
    assertEqual(shown.renders[0], GUEST)
    client.change({ state: { status: 'offline', unsent: 2 } })
    await becomes(() => last(shown), { status: 'offline', unsent: 2, account: undefined })
    shown.unmount()
  })

  test('sync: signing in and out is shown', async () => {
    const client = new FakeClient()
    const shown = create().mount('sync', { client })
    client.change({ state: { account: 'ann' } })
    await becomes(() => last(shown).account, 'ann')
    client.change({ state: { account: undefined } })
    await becomes(() => last(shown).account, undefined)
    shown.unmount()
  })

  test('sync: another client shows its own state', async () => {
    const [client, other] = [new FakeClient(), new FakeClient()]
    other.change({ state: { status: 'synced' } })
    const shown = create().mount('sync', { client })
    shown.set({ client: other })
    await becomes(() => last(shown).status, 'synced')
    await becomes(() => client.listeners, 0)
    shown.unmount()
  })

  test('sync: unmounting ends it', async () => {
    const client = new FakeClient()
    const shown = create().mount('sync', { client })
    await becomes(() => client.listeners, 1)
    shown.unmount()
    await becomes(() => client.listeners, 0)
  })

  test('refused writes: none at first, then those that are there', async () => {
    const client = new FakeClient()
    client.change({ rejected: ['No roof.'] })
    const shown = create().mount('rejected', { client })
    assertEqual(shown.renders[0], [])
    await becomes(() => last(shown), ['No roof.'])
    client.change({ rejected: [] })
    await becomes(() => last(shown), [])
    shown.unmount()
    await becomes(() => client.listeners, 0)
  })

  test('refused writes: an empty list after an empty list renders nothing', async () => {
    const client = new FakeClient()
    const shown = create().mount('rejected', { client })
    await aWhile()
    const before = shown.renders.length
    client.change({ state: { unsent: 1 } })
    await aWhile()
    assertEqual(shown.renders.length, before)
    shown.unmount()
  })

  test('can: undefined at first, then the answer, and another one', async () => {
    const client = new FakeClient()
    const shown = create().mount('can', { client, question: ['delete', { collectionName: 'tasks', id: 'a' }] })
    assertEqual(shown.renders[0], undefined)
    await becomes(() => last(shown), true)
    client.change({ mayDelete: false })
    await becomes(() => last(shown), false)
    shown.unmount()
    await becomes(() => client.listeners, 0)
  })

  test('can: a question that says the same is not asked again', async () => {
    const client = new FakeClient()
    const question = (title: string) => ['delete', { collectionName: 'tasks', id: 'a', title }] as const
    const shown = create().mount('can', { client, question: question('Roof') })
    await becomes(() => last(shown), true)
    const asked = client.asked.length
    shown.set({ client, question: question('Wall') })
    await aWhile()
    assertEqual([client.asked.length, last(shown)], [asked, true])
    shown.unmount()
  })

  test('can: another question has its own answer', async () => {
    const client = new FakeClient()
    client.change({ mayDelete: false })
    const shown = create().mount('can', { client, question: ['create', 'tasks', { title: 'Roof' }] })
    await becomes(() => last(shown), true)
    shown.set({ client, question: ['delete', { collectionName: 'tasks', id: 'a' }] })
    await becomes(() => last(shown), false)
    await becomes(() => client.listeners, 1)
    shown.unmount()
  })
}
