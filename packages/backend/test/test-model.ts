/** A read model in the thread of the test, as tests without processes need it. */
import type { Database } from 'pannier'
import { environmentOf } from 'pannier/internal'
import { Definitions } from '../src/definitions/definitions.ts'
import { ViewReader } from '../src/definitions/views/view-reader.ts'
import { WriteViews } from '../src/records/write/write-views.ts'
import { SqlRefusal } from '../src/definitions/views/view-queries.ts'
import { Engine } from '../src/model/engine.ts'
import type { Member } from '../src/model/members.ts'
import { ReadModel, type ModelHome, type ReadyView } from '../src/model/read-model.ts'

/** Nothing ends a statement that runs. */
export function inThread(): Member {
  const engine = new Engine()
  let isAlive = true
  return {
    get isAlive() {
      return isAlive
    },
    ask: (request, { onRows = () => {}, signal } = {}) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted()
        engine.handle(structuredClone(request), (reply) => {
          if ('rows' in reply) onRows(reply.rows)
          else if ('error' in reply) reject(new SqlRefusal(reply.error))
          else resolve(structuredClone(reply.answer) as never)
        })
      }),
    end: async () => {
      if (isAlive) engine.close()
      isAlive = false
    },
  }
}

export const IN_THREAD: ModelHome = { start: inThread, isFile: false }

export interface TestModel {
  readonly model: ReadModel
  readonly viewReader: ViewReader<ReadyView>
  readonly views: WriteViews
}

/** `definitions` may come later, by `model.follow`. */
export function testModel(database: Database, definitions?: Parameters<ReadModel['follow']>[0]): TestModel {
  const environment = environmentOf(database)
  const model = new ReadModel({ database, environment, home: IN_THREAD })
  if (definitions !== undefined) model.follow(definitions)
  return { model, viewReader: new ViewReader<ReadyView>(model, environment), views: new WriteViews(model) }
}

/** Definitions that ask SQLite about views and indexes. */
export async function modelledDefinitions(database: Database): Promise<Definitions> {
  const { model } = testModel(database)
  const definitions = await Definitions.open(database, { queries: model })
  model.follow(definitions)
  return definitions
}
