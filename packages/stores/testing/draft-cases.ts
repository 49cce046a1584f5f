/** Cases of a form for a document. */
import { assertEqual } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding, Mounted, Person } from './binding.ts'
import { aWhile, becomes, last } from './fixture.ts'

const ANN: Person = { _id: 'ann', name: 'Ann', city: 'Oslo' }

/** A form of one person. Each save waits until it is answered. */
class Form {
  readonly saves: { readonly fields: object; readonly id: string; readonly answer: (error?: Error) => void }[] = []
  readonly mounted: Mounted<'draft'>

  constructor(binding: Binding, document: Person | undefined) {
    this.mounted = binding.mount('draft', this.#inputs(document))
  }

  get text(): string {
    const { draft, status } = last(this.mounted)
    return `${status} ${draft?.name ?? '-'} of ${draft?.city ?? '-'}`
  }

  shows(document: Person | undefined): void {
    this.mounted.set(this.#inputs(document))
  }

  type(fields: Partial<Person>): void {
    last(this.mounted).change(fields)
  }

  #inputs(document: Person | undefined) {
    return {
      document,
      save: (fields: object, id: string): Promise<void> =>
        new Promise((resolve, reject) => {
          this.saves.push({ fields, id, answer: (error) => (error === undefined ? resolve() : reject(error)) })
        }),
    }
  }
}

export function draftCases({ test, create }: SuiteContext<() => Binding>): void {
  const behaves = (name: string, body: (form: Form) => Promise<void>): void =>
    test(`draft: ${name}`, async () => {
      const form = new Form(create(), ANN)
      try {
        await body(form)
      } finally {
        form.mounted.unmount()
      }
    })

  behaves('without a change it is the document', async (form) => {
    assertEqual(form.text, 'saved Ann of Oslo')
    form.shows({ ...ANN, name: 'Anna' })
    await becomes(() => form.text, 'saved Anna of Oslo')
  })

  behaves('what is typed, taken back and typed again while its save runs is saved', async (form) => {
    form.type({ name: 'An' })
    form.type({ name: 'Ann' })
    form.type({ name: 'An' })
    await becomes(() => form.saves.length, 1)
    form.saves[0]!.answer()
    await becomes(() => form.saves.length, 2)
    form.shows({ ...ANN, name: 'An' })
    await aWhile()
    form.saves[1]!.answer()
    await becomes(() => form.text, 'saved An of Oslo')
  })

  behaves('what is typed is shown at once, and saved', async (form) => {
    form.type({ name: 'An' })
    await becomes(() => form.text, 'saving An of Oslo')
    assertEqual(form.saves[0]!.fields, { name: 'An' })
    form.saves[0]!.answer()
    await becomes(() => form.text, 'saved An of Oslo')
  })

  behaves('what is typed while a save runs is saved together, after it', async (form) => {
    form.type({ name: 'A' })
    form.type({ name: 'Al' })
    form.type({ city: 'Rome' })
    assertEqual(form.saves.length, 1)
    form.saves[0]!.answer()
    await becomes(() => form.saves.length, 2)
    assertEqual(form.saves[1]!.fields, { name: 'Al', city: 'Rome' })
    form.saves[1]!.answer()
    await becomes(() => form.text, 'saved Al of Rome')
  })

  behaves('a document that comes late undoes nothing', async (form) => {
    form.type({ name: 'A' })
    form.type({ name: 'Al' })
    form.saves[0]!.answer()
    await becomes(() => form.saves.length, 2)
    form.shows({ ...ANN, name: 'A' })
    await becomes(() => form.text, 'saving Al of Oslo')
    form.saves[1]!.answer()
    await becomes(() => form.text, 'saved Al of Oslo')
    form.shows({ ...ANN, name: 'Al' })
    await aWhile()
    assertEqual(form.text, 'saved Al of Oslo')
  })

  behaves('a change by others is shown once everything is saved', async (form) => {
    form.type({ name: 'Al' })
    form.shows({ ...ANN, name: 'Zoe' })
    await becomes(() => form.text, 'saving Al of Oslo')
    form.saves[0]!.answer()
    await becomes(() => form.text, 'saved Zoe of Oslo')
  })

  behaves('a change of another field by others is shown at once', async (form) => {
    form.type({ name: 'Al' })
    form.shows({ ...ANN, city: 'Rome' })
    await becomes(() => form.text, 'saving Al of Rome')
    form.saves[0]!.answer()
  })

  behaves('a save that fails keeps what is typed, and the next one has it too', async (form) => {
    const error = new Error('no room')
    form.type({ name: 'Al' })
    form.saves[0]!.answer(error)
    await becomes(() => form.text, 'failed Al of Oslo')
    assertEqual(last(form.mounted).error, error)
    form.type({ city: 'Rome' })
    await becomes(() => form.saves.length, 2)
    assertEqual(form.saves[1]!.fields, { name: 'Al', city: 'Rome' })
    form.saves[1]!.answer()
    await becomes(() => form.text, 'saved Al of Rome')
  })

  behaves('a document with another id begins another draft', async (form) => {
    form.type({ name: 'Al' })
    form.shows({ _id: 'bob', name: 'Bob', city: 'Oslo' })
    await becomes(() => form.text, 'saved Bob of Oslo')
    form.saves[0]!.answer()
  })

  behaves('what waits for a save goes into the document that it was typed into', async (form) => {
    form.type({ name: 'A' })
    form.type({ name: 'Al' })
    form.shows({ _id: 'bob', name: 'Bob', city: 'Oslo' })
    await becomes(() => form.text, 'saved Bob of Oslo')
    form.type({ city: 'Rome' })
    for (const index of [0, 1, 2]) {
      await becomes(() => form.saves.length > index, true)
      form.saves[index]!.answer()
    }
    assertEqual(
      form.saves.map(({ fields, id }) => [id, fields]),
      [
        ['ann', { name: 'A' }],
        ['bob', { city: 'Rome' }],
        ['ann', { name: 'Al' }],
      ],
    )
  })

  behaves('without a document nothing can be typed', async (form) => {
    form.shows(undefined)
    await becomes(() => form.text, 'saved - of -')
    form.type({ name: 'Eve' })
    await aWhile()
    assertEqual(form.text, 'saved - of -')
    assertEqual(form.saves.length, 0)
  })
}
