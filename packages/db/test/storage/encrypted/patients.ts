/** A database whose every word is looked for in what its storage holds: ids, names of fields and collections, values, index keys, attachments. */
import { open, type Credential } from '../../../src/index.ts'
import type { DatabaseStorage } from '../../../src/storage/page-store.ts'

export const WORDS: readonly string[] = [
  'patients',
  'diagnosis',
  'hypertension',
  'Ophelia',
  'patient-0042',
  'scan.txt',
  'x-ray of the chest',
  'byDiagnosis',
].sort()

interface Filling {
  readonly storage: DatabaseStorage
  readonly name: string
  readonly encryption: Credential | undefined
  /** In each of two rounds. */
  readonly patientCount: number
  /** Called with all in pages, and with some in the log. */
  look(): Promise<void>
}

export async function fillPatients({ storage, name, encryption, patientCount, look }: Filling): Promise<void> {
  const db = await open(name, { storage, ...(encryption && { encryption }) })
  const patients = db.collection('patients', { indexes: ['diagnosis', { on: 'name', text: true }] })
  const view = patients.view('byDiagnosis', {
    map: (doc, emit) => emit((doc as { diagnosis?: unknown }).diagnosis),
    version: 1,
  })
  for (let round = 0; round < 2; round++) {
    await patients.insert(
      Array.from({ length: patientCount }, (_, number) => ({
        _id: `patient-${String(patientCount * round + number).padStart(4, '0')}`,
        name: `Ophelia ${number}`,
        diagnosis: 'hypertension',
      })),
    )
    await patients.update('patient-0042', (doc) => ({ ...doc, note: 'hypertension' }))
    const scan = new TextEncoder().encode('x-ray of the chest, '.repeat(20))
    await patients.putAttachment('patient-0042', `${round}scan.txt`, scan, { contentType: 'text/plain' })
    await view.query()
    await look()
    await db.flush()
    await look()
  }
  await db.close()
  await look()
}

/** Those that stand in any of these, with one byte or two for each letter. */
export function wordsIn(contents: readonly Uint8Array[]): string[] {
  const decoder = new TextDecoder('latin1')
  const texts = contents.map((bytes) => decoder.decode(bytes))
  const wide = texts.map((text) => text.replaceAll('\0', ''))
  return WORDS.filter((word) => [...texts, ...wide].some((text) => text.includes(word)))
}
