/** Kinds of hooks, as PocketBase's documentation shows them. */
import type { Case } from './project.ts'

/** A case about one collection. `path`: of its records. */
function about(name: string, hooks: string, requests: (path: string) => Case['requests']): Case {
  return {
    name,
    hooks: hooks.replaceAll('POSTS', `posts_${name}`),
    requests: requests(`/api/collections/posts_${name}/records`),
  }
}

/** A route `/NAME`, asked once. */
function route(name: string, body: string, asked = `/${name}`, requests: Case['requests'] = [['GET', asked]]): Case {
  return { name, hooks: `routerAdd('GET', '/${name}', (e) => {\n${body}\n})`, requests }
}

const RECORDS: readonly Case[] = [
  about(
    'create',
    `onRecordCreate((e) => {
  e.record.set('title', e.record.getString('title').toUpperCase())
  e.next()
}, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'hello' }],
      ['GET', path],
    ],
  ),
  about(
    'create_stop',
    `onRecordCreate((e) => {
  if (e.record.get('title') === 'bad') throw new BadRequestError('no bad titles')
  return e.next()
}, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'bad' }],
      ['POST', path, { title: 'good' }],
      ['GET', path],
    ],
  ),
  about(
    'create_data',
    `onRecordCreateRequest((e) => {
  throw new BadRequestError('failed', { title: new ValidationError('title_taken', 'is taken'), other: 'x' })
}, 'POSTS')`,
    (path) => [['POST', path, { title: 'x' }]],
  ),
  about(
    'create_after',
    `onRecordAfterCreateSuccess((e) => {
  const note = new Record($app.findCollectionByNameOrId('POSTS'))
  if (e.record.get('count') < 3) {
    note.set('title', e.record.get('title') + '+')
    note.set('count', e.record.get('count') + 1)
    $app.save(note)
  }
  e.next()
}, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'a', count: 1 }],
      ['GET', `${path}?sort=count`],
    ],
  ),
  about(
    'create_execute',
    `onRecordCreateExecute((e) => {
  e.record.set('count', e.record.get('count') * 2)
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, { count: 21 }]],
  ),
  about(
    'validate',
    `onRecordValidate((e) => {
  e.next()
  if (e.record.getInt('count') > 10) throw new ApiError(422, 'too much')
}, 'POSTS')`,
    (path) => [
      ['POST', path, { count: 11 }],
      ['POST', path, { count: 9 }],
    ],
  ),
  about(
    'create_error',
    `onRecordAfterCreateError((e) => {
  $app.store().set('create_error', e.record.get('title'))
  e.next()
}, 'POSTS')
onRecordCreateExecute((e) => { throw new Error('no') }, 'POSTS')
routerAdd('GET', '/create_error', (e) => e.json(200, { seen: $app.store().get('create_error') }))`,
    (path) => [
      ['POST', path, { title: 'lost' }],
      ['GET', '/create_error'],
    ],
  ),
  about(
    'update',
    `onRecordUpdate((e) => {
  const before = e.record.original().get('count')
  e.record.set('title', before + '->' + e.record.get('count'))
  e.next()
}, 'POSTS')
onRecordCreate((e) => { e.record.id = 'record000000001'; e.next() }, 'POSTS')`,
    (path) => [
      ['POST', path, { count: 1 }],
      ['PATCH', `${path}/record000000001`, { count: 2 }],
      ['GET', `${path}/record000000001`],
    ],
  ),
  about(
    'update_request',
    `onRecordUpdateRequest((e) => {
  if (!e.hasSuperuserAuth()) throw new ForbiddenError('only superusers')
  e.record.set('title', e.auth.email())
  return e.next()
}, 'POSTS')
onRecordCreate((e) => { e.record.id = 'record000000002'; e.next() }, 'POSTS')`,
    (path) => [
      ['POST', path, {}],
      ['PATCH', `${path}/record000000002`, { count: 2 }, 'guest'],
      ['PATCH', `${path}/record000000002`, { count: 2 }],
    ],
  ),
  about(
    'update_after',
    `onRecordAfterUpdateSuccess((e) => {
  $app.store().set('update_after', (($app.store().get('update_after') || 0) + 1))
  e.next()
}, 'POSTS')
onRecordCreate((e) => { e.record.id = 'record000000003'; e.next() }, 'POSTS')
routerAdd('GET', '/update_after', (e) => e.json(200, { count: $app.store().get('update_after') }))`,
    (path) => [
      ['POST', path, {}],
      ['PATCH', `${path}/record000000003`, { count: 2 }],
      ['PATCH', `${path}/record000000003`, { count: 3 }],
      ['GET', '/update_after'],
    ],
  ),
  about(
    'delete',
    `onRecordDelete((e) => {
  if (e.record.getBool('isDone')) throw new BadRequestError('it is done')
  e.next()
}, 'POSTS')
onRecordAfterDeleteSuccess((e) => { $app.store().set('deleted', e.record.get('title')); e.next() }, 'POSTS')
onRecordCreate((e) => { e.record.id = e.record.get('title'); e.next() }, 'POSTS')
routerAdd('GET', '/deleted', (e) => e.json(200, { seen: $app.store().get('deleted') }))`,
    (path) => [
      ['POST', path, { title: 'delete000000001', isDone: true }],
      ['POST', path, { title: 'delete000000002' }],
      ['DELETE', `${path}/delete000000001`],
      ['DELETE', `${path}/delete000000002`],
      ['GET', path],
      ['GET', '/deleted'],
    ],
  ),
  about(
    'delete_request',
    `onRecordDeleteRequest((e) => {
  if (e.auth === null) throw new UnauthorizedError()
  e.next()
}, 'POSTS')
onRecordCreate((e) => { e.record.id = 'deleteguest0001'; e.next() }, 'POSTS')`,
    (path) => [
      ['POST', path, {}],
      ['DELETE', `${path}/deleteguest0001`, undefined, 'guest'],
      ['DELETE', `${path}/deleteguest0001`],
    ],
  ),
  about(
    'enrich',
    `onRecordEnrich((e) => {
  e.record.hide('count')
  e.record.withCustomData(true)
  e.record.set('length', e.record.get('title').length)
  e.next()
}, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'four', count: 4 }],
      ['GET', path],
    ],
  ),
  about(
    'enrich_guest',
    `onRecordEnrich((e) => {
  if (!e.requestInfo.auth) e.record.hide('title')
  e.next()
}, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'secret' }],
      ['GET', path],
      ['GET', path, undefined, 'guest'],
    ],
  ),
  about(
    'view',
    `onRecordViewRequest((e) => {
  e.record.set('title', 'seen ' + e.record.get('title'))
  e.next()
}, 'POSTS')
onRecordCreate((e) => { e.record.id = 'view00000000001'; e.next() }, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'x' }],
      ['GET', `${path}/view00000000001`],
      ['GET', path],
    ],
  ),
  about(
    'list_stop',
    `onRecordsListRequest((e) => {
  if (e.requestInfo().query.secret !== '1') throw new ForbiddenError('Say the secret.')
  e.next()
}, 'POSTS')`,
    (path) => [
      ['GET', path],
      ['GET', `${path}?secret=1`],
    ],
  ),
  about(
    'request_info',
    `onRecordCreateRequest((e) => {
  const info = e.requestInfo()
  e.record.set('title', [info.method, info.query.q, info.headers.x_test === undefined ? '' : 'h', info.body.extra, info.context].join('|'))
  e.next()
}, 'POSTS')`,
    (path) => [['POST', `${path}?q=1`, { extra: 'more' }]],
  ),
  about(
    'model',
    `onModelCreate((e) => {
  e.model.set('title', 'a model')
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, {}]],
  ),
  about('no_next', `onRecordCreate((e) => {}, 'POSTS')`, (path) => [['GET', path]]),
  about('error_plain', `onRecordCreateRequest((e) => { throw new Error('something') }, 'POSTS')`, (path) => [
    ['POST', path, {}],
  ]),
  about('error_type', `onRecordCreateRequest((e) => { e.record.nothing.more() }, 'POSTS')`, (path) => [
    ['POST', path, {}],
  ]),
  about(
    'error_missing',
    `onRecordCreateRequest((e) => { $app.findRecordById('POSTS', 'missing00000001'); e.next() }, 'POSTS')`,
    (path) => [['POST', path, {}]],
  ),
  about(
    'error_caught',
    `onRecordCreate((e) => {
  try {
    $app.findFirstRecordByData('POSTS', 'title', 'nobody')
  } catch {
    e.record.set('title', 'caught')
  }
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, {}]],
  ),
  about(
    'order',
    `onRecordCreate((e) => { e.record.set('title', e.record.get('title') + '1'); e.next() }, 'POSTS')
onRecordCreate((e) => { e.record.set('title', e.record.get('title') + '2'); e.next() }, 'POSTS')`,
    (path) => [['POST', path, { title: '0' }]],
  ),
  about(
    'modifiers',
    `onRecordUpdate((e) => {
  e.record.set('count+', 5)
  e.record.set('tags+', 'b')
  e.record.set('tags-', 'a')
  e.next()
}, 'POSTS')
onRecordCreate((e) => { e.record.id = 'modifiers000001'; e.next() }, 'POSTS')`,
    (path) => [
      ['POST', path, { count: 1, tags: ['a', 'c'] }],
      ['PATCH', `${path}/modifiers000001`, { title: 'x' }],
    ],
  ),
  about(
    'values',
    `onRecordCreate((e) => {
  e.record.set('count', '12')
  e.record.set('isDone', 'true')
  e.record.set('due', '2026-01-02 03:04:05Z')
  e.record.set('data', { a: [1, 2] })
  e.record.set('title', 5)
  const shown = [
    typeof e.record.get('count'), e.record.getInt('count') + 1, e.record.getBool('isDone'),
    String(e.record.get('due')), e.record.getDateTime('due').unix(), JSON.stringify(e.record.get('data')),
    e.record.getString('data'), JSON.parse(e.record.get('data')).a.length, e.record.getStringSlice('tags').join(','),
    e.record.get('missing'),
  ]
  e.record.set('title', shown.join(' '))
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, { tags: ['a', 'b'] }]],
  ),
  about(
    'wrong_values',
    `onRecordCreate((e) => {
  e.record.set('count', 'many')
  e.record.set('due', 'never')
  e.record.set('isDone', 'perhaps')
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, { count: 3 }]],
  ),
  about(
    'loops',
    `onRecordCreate((e) => {
  const found = ['c', 'a', 'b'].map((name) => { try { $app.findFirstRecordByData('POSTS', 'title', name); return name } catch { return '-' + name } })
  found.sort((one, other) => $app.countRecords('POSTS') >= 0 && one < other ? -1 : 1)
  e.record.set('data', { found, some: found.some((one) => $app.countRecords('POSTS') >= 0) })
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, {}]],
  ),
  about(
    'generators',
    `onRecordCreate((e) => {
  function* titles() { for (const one of [1, 2, 3]) yield one + $app.countRecords('POSTS') }
  const total = { get value() { return $app.countRecords('POSTS') + 40 } }
  let ended = ''
  try { e.record.set('data', { titles: [...titles()], value: total.value }) } finally { ended = 'ended' }
  e.record.set('title', ended)
  e.next()
}, 'POSTS')`,
    (path) => [['POST', path, {}]],
  ),
]

const QUERIES: readonly Case[] = [
  about(
    'find',
    `routerAdd('GET', '/find', (e) => {
  const all = $app.findRecordsByFilter('POSTS', 'count > {:min}', '-count', 2, 0, { min: 1 })
  const first = $app.findFirstRecordByFilter('POSTS', 'title = {:title}', { title: 'b' })
  const ids = $app.findRecordsByIds('POSTS', all.map((one) => one.id))
  return e.json(200, {
    all: all.map((one) => one.get('title')), first: first.get('count'), ids: ids.length,
    by: $app.findFirstRecordByData('POSTS', 'title', 'c').getInt('count'),
    some: $app.findAllRecords('POSTS', $dbx.exp('count > {:n}', { n: 1 }), $dbx.hashExp({ title: ['b', 'x'] })).map((one) => one.get('title')),
    every: $app.findAllRecords('POSTS').length,
    count: $app.countRecords('POSTS'), many: $app.countRecords('POSTS', $dbx.exp('count > 1')),
  })
})`,
    (path) => [
      ['POST', path, { title: 'a', count: 1 }],
      ['POST', path, { title: 'b', count: 2 }],
      ['POST', path, { title: 'c', count: 3 }],
      ['GET', '/find'],
    ],
  ),
  about(
    'query',
    `routerAdd('GET', '/query', (e) => {
  const rows = arrayOf(new DynamicModel({ title: '', count: 0, isDone: false }))
  $app.db().newQuery('SELECT title, count, isDone FROM POSTS WHERE count >= {:n} ORDER BY count').bind({ n: 2 }).all(rows)
  const one = new DynamicModel({ total: 0 })
  $app.db().select('count(*) as total').from('POSTS').where($dbx.exp('count < {:n}', { n: 3 })).one(one)
  const names = arrayOf(new DynamicModel({ title: '' }))
  $app.db().select('title').from('POSTS').andWhere($dbx.like('title', 'b')).orWhere($dbx.hashExp({ count: 1 })).orderBy('title DESC').limit(5).all(names)
  return e.json(200, { rows, total: one.total, names: names.map((row) => row.title) })
})`,
    (path) => [
      ['POST', path, { title: 'a', count: 1 }],
      ['POST', path, { title: 'b', count: 2, isDone: true }],
      ['POST', path, { title: 'c', count: 3 }],
      ['GET', '/query'],
    ],
  ),
  about(
    'execute',
    `routerAdd('POST', '/execute', (e) => {
  $app.db().newQuery("UPDATE POSTS SET count = count + 1").execute()
  return e.json(200, $app.findAllRecords('POSTS').map((one) => one.get('count')))
})`,
    (path) => [
      ['POST', path, { count: 1 }],
      ['POST', '/execute'],
    ],
  ),
  about(
    'transaction',
    `routerAdd('POST', '/transaction/{fails}', (e) => {
  try {
    $app.runInTransaction((txApp) => {
      const collection = txApp.findCollectionByNameOrId('POSTS')
      for (const title of ['x', 'y']) txApp.save(new Record(collection, { title }))
      if (e.request.pathValue('fails') === 'yes') throw new BadRequestError('rolled back')
    })
  } catch (error) {
    return e.json(409, { count: $app.countRecords('POSTS') })
  }
  return e.json(200, { count: $app.countRecords('POSTS') })
})`,
    () => [
      ['POST', '/transaction/yes'],
      ['POST', '/transaction/no'],
    ],
  ),
  about(
    'transaction_sql',
    `routerAdd('POST', '/transaction_sql/{fails}', (e) => {
  const seen = []
  const titles = (app) => {
    const rows = arrayOf(new DynamicModel({ title: '', count: 0 }))
    app.db().newQuery('SELECT title, count FROM POSTS ORDER BY title').all(rows)
    return rows.map((row) => row.title + row.count).join()
  }
  const work = (txApp) => {
    const collection = txApp.findCollectionByNameOrId('POSTS')
    for (const title of ['x', 'y']) txApp.save(new Record(collection, { title, count: 1 }))
    seen.push(titles(txApp))
    txApp.db().newQuery("UPDATE POSTS SET count = count + 5 WHERE title = 'x'").execute()
    seen.push(titles(txApp))
    const x = txApp.findFirstRecordByData('POSTS', 'title', 'x')
    x.set('count+', 1)
    txApp.save(x)
    txApp.db().newQuery("DELETE FROM POSTS WHERE title = 'y'").execute()
    txApp.db().newQuery("INSERT INTO POSTS (id, title, count) VALUES ('transactionsql1', 'z', 3)").execute()
    seen.push(titles(txApp))
    seen.push(txApp.countRecords('POSTS', $dbx.exp('count > 2')))
    seen.push(txApp.findAllRecords('POSTS', $dbx.hashExp({ title: 'z' })).map((one) => one.id).join())
    if (e.request.pathValue('fails') === 'yes') throw new BadRequestError('rolled back')
  }
  try {
    $app.runInTransaction(work)
  } catch (error) {
    seen.push(error.message)
  }
  return e.json(200, { seen, after: titles($app) })
})`,
    () => [
      ['POST', '/transaction_sql/yes'],
      ['POST', '/transaction_sql/no'],
    ],
  ),
  about(
    'unchecked',
    `onRecordValidate((e) => {
  throw new BadRequestError('validated')
}, 'POSTS')
routerAdd('POST', '/unchecked', (e) => {
  const collection = $app.findCollectionByNameOrId('POSTS')
  const record = new Record(collection, { id: 'uncheckedid0001', title: 'x'.repeat(6000), tags: ['a', 'wrong'] })
  $app.saveNoValidate(record)
  record.set('tags', ['none'])
  $app.saveNoValidate(record)
  $app.runInTransaction((txApp) => {
    const other = new Record(collection, { id: 'uncheckedid0002', tags: ['inside'] })
    txApp.saveNoValidate(other)
  })
  let isTwice = false
  try {
    $app.saveNoValidate(new Record(collection, { id: 'uncheckedid0001' }))
  } catch (_) {
    isTwice = true
  }
  const stored = ['uncheckedid0001', 'uncheckedid0002'].map((id) => $app.findRecordById('POSTS', id))
  return e.json(200, { isTwice, length: stored[0].get('title').length, tags: stored.map((one) => one.get('tags')) })
})`,
    (path) => [
      ['POST', '/unchecked'],
      ['POST', path, { title: 'checked' }],
    ],
  ),
  about(
    'save_invalid',
    `routerAdd('POST', '/save_invalid', (e) => {
  const record = new Record($app.findCollectionByNameOrId('POSTS'), { tags: ['wrong'] })
  $app.save(record)
  return e.json(200, record)
})`,
    () => [['POST', '/save_invalid']],
  ),
  about(
    'save',
    `routerAdd('POST', '/save', (e) => {
  const record = new Record($app.findCollectionByNameOrId('POSTS'))
  record.load({ title: 'made', count: 3, tags: ['a'] })
  const wasNew = record.isNew()
  $app.save(record)
  const again = $app.findRecordById('POSTS', record.id)
  again.set('count', 4)
  $app.save(again)
  const seen = { wasNew, isNew: record.isNew(), same: again.id === record.id, count: $app.findRecordById('POSTS', record.id).get('count') }
  $app.delete(again)
  return e.json(200, { ...seen, left: $app.countRecords('POSTS'), json: record })
})`,
    () => [['POST', '/save']],
  ),
  about(
    'expand',
    `routerAdd('GET', '/expand', (e) => {
  const collection = new Collection({ name: 'children', type: 'base', fields: [{ name: 'title', type: 'text' }, { name: 'parent', type: 'relation', collectionId: $app.findCollectionByNameOrId('POSTS').id, maxSelect: 1 }] })
  $app.save(collection)
  const parent = new Record($app.findCollectionByNameOrId('POSTS'), { title: 'parent' })
  $app.save(parent)
  const child = new Record(collection, { title: 'child', parent: parent.id })
  $app.save(child)
  $app.expandRecord(child, ['parent'], null)
  $app.expandRecord(parent, ['children_via_parent'], null)
  return e.json(200, { parent: child.expandedOne('parent').get('title'), children: parent.expandedAll('children_via_parent').map((one) => one.get('title')), nothing: child.expandedOne('other') })
})`,
    () => [['GET', '/expand']],
  ),
  about(
    'files',
    `routerAdd('POST', '/files', (e) => {
  const record = new Record($app.findCollectionByNameOrId('POSTS'))
  record.set('file', $filesystem.fileFromBytes('hello', 'greeting.txt'))
  $app.save(record)
  return e.json(200, { name: record.get('file'), path: record.baseFilesPath().endsWith(record.id) })
})`,
    () => [['POST', '/files']],
  ),
]

const ROUTES: readonly Case[] = [
  route('json', `return e.json(200, { message: 'hello', list: [1, 'a', null, true], nested: { a: 1 } })`),
  route('string', `return e.string(201, '"text"')`),
  route('html', `return e.html(200, '5')`),
  route('blob', `return e.blob(200, 'application/octet-stream', toBytes('[1, 2]'))`),
  route(
    'headers',
    `e.response.header().set('location', '/')
return e.json(200, { agent: e.request.header.get('user-agent') !== '', host: e.request.host !== '' })`,
  ),
  route(
    'redirect',
    `if (e.request.url.query().get('at') === '') return e.redirect(302, '/redirect?at=1')
return e.json(200, { at: e.request.url.query().get('at') })`,
  ),
  route(
    'query_values',
    `return e.json(200, { a: e.request.url.query().get('a'), b: e.request.url.query().get('b'), path: e.request.url.path, raw: e.request.url.rawQuery })`,
    '/query_values?a=1&c=2',
  ),
  {
    name: 'path',
    hooks: `routerAdd('GET', '/api/path/{id}/sub/{rest...}', (e) => e.json(200, { id: e.request.pathValue('id'), rest: e.request.pathValue('rest'), none: e.request.pathValue('none') }))`,
    requests: [
      ['GET', '/api/path/a%20b/sub/c/d'],
      ['GET', '/api/path/1/other'],
    ],
  },
  {
    name: 'body',
    hooks: `routerAdd('POST', '/body', (e) => {
  const data = new DynamicModel({ name: '', age: 0, isOk: false, tags: [], more: {} })
  e.bindBody(data)
  const info = e.requestInfo()
  return e.json(200, { data, name: data.name, body: info.body, method: info.method })
})`,
    requests: [['POST', '/body', { name: 'ann', age: 3, isOk: true, tags: ['x'], more: { a: 1 }, unknown: 1 }]],
  },
  {
    name: 'middleware',
    hooks: `routerAdd('GET', '/middleware', (e) => e.json(200, { seen: e.get('seen') }), (e) => { e.set('seen', 'by the first'); return e.next() }, (e) => {
  if (e.request.url.query().get('stop')) throw new ForbiddenError()
  return e.next()
})`,
    requests: [
      ['GET', '/middleware'],
      ['GET', '/middleware?stop=1'],
    ],
  },
  {
    name: 'router_use',
    hooks: `routerUse(new Middleware((e) => { e.set('order', (e.get('order') || '') + 'b'); return e.next() }, 2))
routerUse(new Middleware((e) => { e.set('order', (e.get('order') || '') + 'a'); return e.next() }, 1))
routerAdd('GET', '/router_use', (e) => e.json(200, { order: e.get('order') }))`,
    requests: [['GET', '/router_use']],
  },
  {
    name: 'require_auth',
    hooks: `routerAdd('GET', '/require_auth', (e) => e.json(200, { auth: e.auth.email(), superuser: e.hasSuperuserAuth(), is: e.auth.isSuperuser() }), $apis.requireAuth())
routerAdd('GET', '/require_users', (e) => e.json(200, {}), $apis.requireAuth('users'))
routerAdd('GET', '/require_guest', (e) => e.json(200, {}), $apis.requireGuestOnly())
routerAdd('GET', '/require_superuser', (e) => e.json(200, {}), $apis.requireSuperuserAuth())`,
    requests: [
      ['GET', '/require_auth'],
      ['GET', '/require_auth', undefined, 'guest'],
      ['GET', '/require_users'],
      ['GET', '/require_users', undefined, 'guest'],
      ['GET', '/require_guest'],
      ['GET', '/require_guest', undefined, 'guest'],
      ['GET', '/require_superuser'],
      ['GET', '/require_superuser', undefined, 'guest'],
    ],
  },
  ...['BadRequest', 'Unauthorized', 'Forbidden', 'NotFound', 'TooManyRequests', 'InternalServer'].map((kind): Case => ({
    name: `throw_${kind}`,
    hooks: `routerAdd('GET', '/throw_${kind}', (e) => { throw new ${kind}Error(e.request.url.query().get('m') || undefined, { field: new ValidationError('a_code', 'a message') }) })
routerAdd('GET', '/give_${kind}', (e) => e.${kind[0]!.toLowerCase()}${kind.slice(1)}${kind === 'TooManyRequests' || kind === 'BadRequest' || kind === 'Unauthorized' || kind === 'Forbidden' || kind === 'NotFound' ? 'Error' : 'Error'}('said so', null))`,
    requests: [
      ['GET', `/throw_${kind}`],
      ['GET', `/throw_${kind}?m=own+text`],
      ['GET', `/give_${kind}`],
    ],
  })),
  route('api_error', `throw new ApiError(418, 'a teapot', {})`),
  route('error_status', `throw e.error(409, 'conflict', null)`),
  route('not_found', `const found = $app.findRecordById('users', 'nobody000000001'); return e.json(200, found)`),
  route('no_answer', `const nothing = 1`),
  { ...route('no_content', `return e.noContent(204)`) },
  {
    name: 'require',
    hooks: `routerAdd('GET', '/require', (e) => {
  const utils = require(\`\${__hooks}/utils.js\`)
  const config = require(\`\${__hooks}/config.json\`)
  return e.json(200, { greeting: utils.greet(config.name), count: utils.count() })
})`,
    requests: [['GET', '/require']],
  },
  {
    name: 'isolated',
    hooks: `const outer = 'outside'
function helper() { return 'helped' }
routerAdd('GET', '/isolated', (e) => e.json(200, { outer: typeof outer, helper: typeof helper }))`,
    requests: [['GET', '/isolated']],
  },
  {
    name: 'named_function',
    hooks: `routerAdd('GET', '/named_function', function handle(e) { return e.json(200, { self: typeof this, name: handle.name }) })`,
    requests: [['GET', '/named_function']],
  },
  {
    name: 'any_method',
    hooks: `routerAdd('PUT', '/api/any_method', (e) => e.json(200, { method: e.request.method }))
routerAdd('DELETE', '/api/any_method', (e) => e.json(200, { method: e.request.method }))`,
    requests: [
      ['PUT', '/api/any_method', {}],
      ['DELETE', '/api/any_method'],
      ['GET', '/api/any_method'],
    ],
  },
]

const LIBRARIES: readonly Case[] = [
  route(
    'security',
    `return e.json(200, {
  md5: $security.md5('a'), sha256: $security.sha256('a'), sha512: $security.sha512('a').length, hs256: $security.hs256('a', 'key'), hs512: $security.hs512('a', 'key').slice(0, 8),
  equal: $security.equal('a', 'a'), random: $security.randomString(12).length, alphabet: $security.randomStringWithAlphabet(5, 'x'), pseudo: $security.pseudorandomString(7).length,
})`,
  ),
  route(
    'jwt',
    `const token = $security.createJWT({ sub: 'ann' }, 'secret', 60)
let wrong = ''
try { $security.parseJWT(token, 'other') } catch { wrong = 'refused' }
return e.json(200, { sub: $security.parseJWT(token, 'secret').sub, open: $security.parseUnverifiedJWT(token).sub, wrong })`,
  ),
  route(
    'encrypt',
    `const key = '0123456789abcdef0123456789abcdef'
return e.json(200, { back: $security.decrypt($security.encrypt('plain', key), key) })`,
  ),
  route(
    'os',
    `const dir = $os.tempDir() + '/pb-hooks-' + $security.randomString(8)
$os.mkdirAll(dir + '/a/b', 0o755)
$os.writeFile(dir + '/a/b/c.txt', 'content', 0o644)
const seen = { text: toString($os.readFile(dir + '/a/b/c.txt')), names: $os.readDir(dir + '/a').map((one) => one.name()), env: $os.getenv('NOT_THERE'), out: toString($os.cmd('echo', 'hi').output()) }
$os.removeAll(dir)
return e.json(200, seen)`,
  ),
  route(
    'filepath',
    `return e.json(200, { base: $filepath.base('/a/b.txt'), dir: $filepath.dir('/a/b.txt'), ext: $filepath.ext('/a/b.txt'), join: $filepath.join('a', '..', 'b'), clean: $filepath.clean('/a/./b'), abs: $filepath.isAbs('/a') })`,
  ),
  route(
    'dates',
    `const date = new DateTime('2026-01-02 03:04:05.678Z')
return e.json(200, { text: date.string(), unix: date.unix(), zero: new DateTime('').isZero(), later: date.add(3600 * 1e9).string(), before: date.before(new DateTime()), json: { date: date.string() } })`,
  ),
  route(
    'template',
    `const html = $template.loadString('<p>{{.name}}</p>{{if .isOk}}ok{{else}}no{{end}}{{range .list}}[{{.}}]{{end}}{{.html|raw}}').render({ name: '<b>', isOk: true, list: [1, 2], html: '<i>' })
return e.json(200, { html })`,
  ),
  route(
    'layouts',
    `const html = $template.loadFiles(\`\${__hooks}/views/layout.html\`, \`\${__hooks}/views/page.html\`).render({ name: 'Ann' })
return e.json(200, { html })`,
  ),
  route(
    'unmarshal',
    `const model = new DynamicModel({ a: '', b: 0, c: [], d: false })
unmarshal({ a: 'x', b: 2, c: [1], d: true }, model)
return e.json(200, model)`,
  ),
  route(
    'nullables',
    `const model = new DynamicModel({ a: nullString(), b: nullInt(), c: nullBool() })
unmarshal({ b: 3 }, model)
return e.json(200, model)`,
  ),
  route(
    'store',
    `$app.store().set('key', 1)
return e.json(200, { has: $app.store().has('key'), value: $app.store().get('key'), none: $app.store().get('none'), made: $app.store().getOrSet('made', () => 5) })`,
  ),
  {
    name: 'http',
    hooks: `routerAdd('POST', '/http_target', (e) => e.json(201, { got: e.requestInfo().body, header: e.request.header.get('x-test') }))
routerAdd('GET', '/http', (e) => {
  const answer = $http.send({ url: 'http://' + e.request.host + '/http_target', method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'content-type': 'application/json', 'x-test': 'yes' }, timeout: 20 })
  return e.json(200, { status: answer.statusCode, json: answer.json, type: answer.headers['Content-Type'][0], text: toString(answer.body).trim() })
})`,
    requests: [['GET', '/http']],
  },
  route(
    'settings',
    `const settings = $app.settings()
settings.meta.appName = 'Renamed'
$app.save(settings)
return e.json(200, { name: $app.settings().meta.appName })`,
  ),
  route(
    'logger',
    `$app.logger().info('a message', 'key', 1, 'other', 'x')
$app.logger().with('a', 1).error('an error', 'error', new Error('x'))
console.log('to the console')
return e.json(200, {})`,
  ),
  route(
    'collections',
    `const collection = $app.findCollectionByNameOrId('users')
return e.json(200, { name: collection.name, type: collection.type, auth: collection.isAuth(), email: collection.fields.getByName('email').type(), names: collection.fields.fieldNames().slice(0, 4) })`,
  ),
  {
    name: 'cron',
    hooks: `cronAdd('my-job', '0 0 1 1 *', () => { $app.store().set('ran', true) })
cronAdd('other', '0 0 1 1 *', () => {})
cronRemove('other')`,
    requests: [
      ['POST', '/api/crons/my-job'],
      ['POST', '/api/crons/other'],
    ],
  },
  {
    name: 'accounts',
    hooks: `routerAdd('POST', '/accounts', (e) => {
  const record = new Record($app.findCollectionByNameOrId('users'))
  record.setEmail('new@example.org')
  record.setPassword('1234567890')
  record.setVerified(true)
  $app.save(record)
  const found = $app.findAuthRecordByEmail('users', 'new@example.org')
  const token = found.newAuthToken()
  return e.json(200, { right: found.validatePassword('1234567890'), wrong: found.validatePassword('x'), verified: found.verified(), same: $app.findAuthRecordByToken(token, 'auth').id === record.id })
})
onRecordAuthRequest((e) => {
  if (e.record.email() === 'new@example.org' && e.authMethod !== 'password') throw new ForbiddenError()
  e.next()
}, 'users')
onRecordAuthWithPasswordRequest((e) => {
  if (e.record !== null && e.record.get('name') === 'blocked') throw new ForbiddenError('blocked')
  e.next()
}, 'users')`,
    requests: [
      ['POST', '/accounts'],
      [
        'POST',
        '/api/collections/users/auth-with-password',
        { identity: 'new@example.org', password: '1234567890' },
        'guest',
      ],
      [
        'POST',
        '/api/collections/users/auth-with-password',
        { identity: 'new@example.org', password: 'wrong' },
        'guest',
      ],
    ],
  },
  {
    name: 'collection_hooks',
    hooks: `onCollectionCreate((e) => {
  if (e.collection.name === 'forbidden') throw new BadRequestError('not this name')
  e.next()
})
onCollectionAfterDeleteSuccess((e) => { $app.store().set('gone', e.collection.name); e.next() })
routerAdd('GET', '/collection_hooks', (e) => e.json(200, { gone: $app.store().get('gone') }))`,
    requests: [
      ['POST', '/api/collections', { name: 'forbidden', type: 'base' }],
      ['POST', '/api/collections', { name: 'allowed', type: 'base' }],
      ['DELETE', '/api/collections/allowed'],
      ['GET', '/collection_hooks'],
    ],
  },
  {
    name: 'settings_hooks',
    hooks: `onSettingsUpdateRequest((e) => {
  if (e.requestInfo().body.meta.appName === 'Bad') throw new BadRequestError('not this name')
  e.next()
})`,
    requests: [['PATCH', '/api/settings', { meta: { appName: 'Bad' } }]],
  },
]

/** Kinds that were found in projects of others. */
const FOUND: readonly Case[] = [
  {
    name: 'slashes',
    hooks: `routerAdd('get', '/slashes/below/', (e) => e.json(200, { path: e.request.url.path }))
routerAdd('GET', '/slashes/exactly/{$}', (e) => e.json(200, { path: e.request.url.path }))
routerAdd('GET', '/slashes/below/deeper/', (e) => e.json(200, { deeper: e.request.url.path }))
routerAdd('GET', '/slashes/below/own', (e) => e.json(200, { own: true }))
routerAdd('GET', '/api/slashes/', (e) => e.json(200, { path: e.request.url.path }))`,
    requests: [
      ['GET', '/slashes/below/'],
      ['GET', '/slashes/below/more'],
      ['GET', '/slashes/below'],
      ['GET', '/slashes/below/own'],
      ['GET', '/slashes/below/deeper/more'],
      ['GET', '/slashes/exactly/'],
      ['GET', '/api/slashes/'],
      ['GET', '/api/slashes/a/b'],
      ['GET', '/api/slashes?a=1'],
    ],
  },
  route(
    'answered_twice',
    `e.json(201, { first: true })
try { e.next() } catch {}
return null`,
  ),
  {
    name: 'cookies',
    hooks: `routerAdd('GET', '/cookies', (e) => {
  e.setCookie({ name: 'plain', value: 5, path: '/a', maxAge: 60, httpOnly: true, secure: true })
  e.setCookie(new Cookie({ name: 'made', value: 'x', maxAge: 0, sameSite: 3 }))
  return e.json(200, e.response.header().values('Set-Cookie'))
})`,
    requests: [['GET', '/cookies']],
  },
  {
    name: 'casts',
    hooks: `routerAdd('POST', '/api/casts', (e) => {
  const { id, email, password } = e.requestInfo().body
  const made = new Record($app.findCollectionByNameOrId('users'), { id })
  made.setEmail(email)
  made.setPassword(password)
  $app.save(made)
  const found = $app.findRecordById('users', id)
  return e.json(200, {
    kinds: [typeof id, typeof password], right: found.validatePassword(password), many: $app.findRecordsByIds('users', [id]).length,
    hash: $security.sha256(5) === $security.sha256('5'), signed: $security.hs256(5, 6) === $security.hs256('5', '6'),
  })
})`,
    requests: [['POST', '/api/casts', { id: 123456789012345, email: 'casts@example.org', password: 1234567890 }]],
  },
  route(
    'bytes',
    `const file = \`\${__hooks}/config.json\`
const text = (bytes) => bytes.map((one) => String.fromCharCode(one)).join('')
return e.json(200, { file: text($os.readFile(file)), echo: text($os.cmd('echo', 'hi').output()), length: $os.readFile(file).length })`,
  ),
  about(
    'upsert_form',
    `routerAdd('POST', '/upsert_form', (e) => {
  const record = new Record($app.findCollectionByNameOrId('POSTS'))
  const form = new RecordUpsertForm($app, record)
  form.load({ title: 'by a form', count: 3 })
  form.submit()
  return e.json(200, { title: record.get('title'), isNew: record.isNew(), count: $app.countRecords('POSTS') })
})`,
    () => [['POST', '/upsert_form']],
  ),
  {
    name: 'raw_body',
    hooks: `routerAdd('POST', '/raw_body', (e) => {
  const raw = readerToString(e.request.body)
  return e.json(200, { raw, signature: $security.hs256(raw, 'secret'), body: e.requestInfo().body, again: toString(e.request.body).length > 0 })
})`,
    requests: [['POST', '/raw_body', { b: 1, a: [2, 'x'] }]],
  },
  about(
    'list_records',
    `onRecordsListRequest((e) => {
  for (const record of e.records) {
    if (record.getInt('count') > 1) record.hide('count')
    record.set('title', record.get('title') + '!')
    record.withCustomData(true)
    record.set('extra', e.records.length)
  }
  e.next()
}, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'a', count: 1 }],
      ['POST', path, { title: 'b', count: 2 }],
      ['GET', `${path}?sort=title`],
      ['GET', `${path}?sort=title`, undefined, 'guest'],
      ['GET', `${path}?sort=title&fields=id,title,extra`, undefined, 'guest'],
    ],
  ),
  about(
    'original_after',
    `onRecordUpdateRequest((e) => {
  e.next()
  $app.store().set('original_request', [e.record.original().get('count'), e.record.get('count')])
}, 'POSTS')
onRecordAfterUpdateSuccess((e) => {
  e.next()
  $app.store().set('original_after', [e.record.original().get('count'), e.record.get('count')])
}, 'POSTS')
onRecordCreateRequest((e) => {
  e.record.id = 'original0000001'
  e.next()
  $app.store().set('original_create', [e.record.original().id, e.record.original().isNew(), e.record.isNew(), e.record.clone().get('count')])
}, 'POSTS')
routerAdd('GET', '/original_after', (e) => {
  const record = $app.findRecordById('POSTS', 'original0000001')
  record.set('count', 7)
  $app.save(record)
  const cloned = record.clone().get('count')
  record.set('count', 8)
  const changed = record.publicExport()
  const before = record.original().publicExport()
  const same = Object.keys(changed).filter((name) => changed[name] == before[name]).sort().join()
  return e.json(200, { request: $app.store().get('original_request'), after: $app.store().get('original_after'), create: $app.store().get('original_create'), cloned, again: [record.original().get('count'), record.fresh().get('count')], same, created: typeof changed.created, text: JSON.stringify(record).length > 0 })
})`,
    (path) => [
      ['POST', path, { count: 1 }],
      ['PATCH', `${path}/original0000001`, { count: 2 }],
      ['GET', '/original_after'],
    ],
  ),
  about(
    'view_hide',
    `onRecordViewRequest((e) => { e.record.hide('count'); e.next() }, 'POSTS')
onRecordCreate((e) => { e.record.id = 'viewhide0000001'; e.next() }, 'POSTS')`,
    (path) => [
      ['POST', path, { title: 'a', count: 1 }],
      ['GET', `${path}/viewhide0000001`],
      ['GET', `${path}/viewhide0000001`, undefined, 'guest'],
    ],
  ),
  {
    name: 'request_parts',
    hooks: `const parts = 'a handler does not see this'
onBatchRequest((e) => {
  if (e.batch.length > 1) throw new BadRequestError('at most one: ' + e.batch.map((one) => one.method + ' ' + one.url).join())
  e.next()
})
onRecordAuthWithPasswordRequest((e) => {
  if (e.identity === 'request_parts') throw new ForbiddenError([e.identity, e.identityField, e.password].join('|'))
  e.next()
}, 'users')
onSettingsUpdateRequest((e) => {
  if (e.newSettings.meta.appName === 'Parts') throw new ForbiddenError([e.newSettings.meta.appName, e.oldSettings.meta.appName === 'Parts', e.newSettings.logs.maxDays === e.oldSettings.logs.maxDays].join('|'))
  e.next()
})
onCollectionCreateRequest((e) => {
  if (e.collection.name === 'request_parts') throw new ForbiddenError([e.collection.type, e.collection.fields.fieldNames().includes('more'), e.collection.isNew()].join('|'))
  e.next()
})
onCollectionUpdateRequest((e) => {
  if (e.collection.name === 'request_parts') throw new ForbiddenError([e.collection.type, e.collection.isNew()].join('|'))
  e.next()
})
onCollectionsImportRequest((e) => {
  throw new ForbiddenError([e.collectionsData.length, e.deleteMissing].join('|'))
})`,
    requests: [
      ['PATCH', '/api/settings', { meta: { appName: 'Acme' }, batch: { enabled: true, maxRequests: 50, timeout: 3 } }],
      [
        'POST',
        '/api/batch',
        {
          requests: [
            { method: 'GET', url: '/a' },
            { method: 'GET', url: '/b' },
          ],
        },
      ],
      ['POST', '/api/collections/users/auth-with-password', { identity: 'request_parts', password: 'p' }, 'guest'],
      ['PATCH', '/api/settings', { meta: { appName: 'Parts' } }],
      ['POST', '/api/collections', { name: 'request_parts', type: 'base', fields: [{ name: 'more', type: 'text' }] }],
      ['PATCH', '/api/collections/users', { name: 'request_parts' }],
      ['PUT', '/api/collections/import', { collections: [{ name: 'x', type: 'base' }], deleteMissing: false }],
    ],
  },
]

export const CASES: readonly Case[] = [...RECORDS, ...QUERIES, ...ROUTES, ...LIBRARIES, ...FOUND]

/** Files beside the handlers. */
export const FILES: Readonly<Record<string, string>> = {
  'utils.js': `let calls = 0
module.exports = { greet: (name) => 'Hello ' + name, count: () => $app.countRecords('users') >= 0 ? 1 : 0 }`,
  'config.json': '{ "name": "Ann" }',
  'views/layout.html': '<html>{{block "title" .}}none{{end}}<body>{{block "body" .}}empty{{end}}</body></html>',
  'views/page.html': '{{define "title"}}{{.name}}{{end}}{{define "body"}}<h1>{{.name}}</h1>{{end}}',
}
