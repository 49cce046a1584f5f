/** Random SELECTs: joins, groups, HAVING, subqueries, UNION, WITH, windows, JSON, dates, collations, nulls. */
type Kind = 't' | 'n' | 'b' | 'd' | 'j'
/** Aliases and their tables. */
type Scope = readonly (readonly [alias: string, table: 'people' | 'posts' | 'comments'])[]
type Make = (scope: Scope, depth?: number) => string | undefined

const COLUMNS: Readonly<Record<'people' | 'posts' | 'comments', Readonly<Record<Kind, readonly string[]>>>> = {
  people: { t: ['name', 'city', 'id'], n: ['age'], b: ['vip'], d: ['created'], j: [] },
  posts: {
    t: ['title', 'category', 'author', 'id'],
    n: ['views', 'rating'],
    b: ['published'],
    d: ['day', 'created'],
    j: ['meta', 'tags'],
  },
  comments: { t: ['message', 'post', 'author', 'id'], n: ['score'], b: [], d: ['day'], j: [] },
}
/** SELECTs over people, posts and comments. */
export class RandomSelects {
  readonly r: () => number

  constructor(r: () => number) {
    this.r = r
  }

  readonly pick = <T>(l: readonly T[]): T => l[Math.floor(this.r() * l.length)]!
  readonly chance = (p: number): boolean => this.r() < p
  readonly int = (n: number): number => Math.floor(this.r() * n)
  readonly num = (): string =>
    this.pick(['0', '1', '2', '3', '10', '2.5', '1.0', '0.1', '-1', '1e3', '100', '7', '9007199254740993', '0x10'])
  readonly str = (): string =>
    this.pick([
      "'a'",
      "''",
      "'alpha'",
      "'Oslo'",
      "'oslo'",
      "'007'",
      "'7'",
      "'1.50'",
      "'null'",
      "'ü'",
      "'it''s'",
      "'%a%'",
      '"dq text"',
      "'2024-02-29'",
    ])
  readonly col = (S: Scope, k: Kind): string | undefined => {
    const all = S.flatMap(([alias, t]) => COLUMNS[t][k].map((c) => `${alias}.${c}`))
    return all.length ? this.pick(all) : undefined
  }
  readonly T: Make = (S, d = 2) => {
    const x: string | undefined =
      d <= 0 || this.chance(0.35)
        ? this.chance(0.8)
          ? this.col(S, 't')
          : this.str()
        : this.pick<() => string | undefined>([
            () => `upper(${this.T(S, d - 1)})`,
            () => `lower(${this.T(S, d - 1)})`,
            () => `substr(${this.T(S, d - 1)}, ${this.pick(['1', '0', '-3', '2'])}, ${1 + this.int(4)})`,
            () => `trim(${this.T(S, d - 1)})`,
            () => `rtrim(${this.T(S, d - 1)}, 'a')`,
            () => `replace(${this.T(S, d - 1)}, 'a', '-')`,
            () => `${this.T(S, d - 1)} || ${this.pick([() => this.T(S, d - 1), () => this.N(S, d - 1)])()}`,
            () => `coalesce(nullif(${this.T(S, d - 1)}, ''), ${this.str()})`,
            () => `CASE WHEN ${this.B(S, d - 1)} THEN ${this.T(S, d - 1)} ELSE ${this.pick([this.str(), 'NULL'])} END`,
            () => `printf('%s:%d:%.2f', ${this.T(S, d - 1)}, ${this.N(S, d - 1)}, ${this.N(S, d - 1)})`,
            () =>
              `strftime('${this.pick(['%Y', '%Y-%m', '%W', '%H:%M', '%j', '%s', '%f', '%w', '%G-%V'])}', ${this.col(S, 'd')})`,
            () =>
              `date(${this.col(S, 'd')}${this.pick(['', ", '+1 month'", ", 'start of month'", ", 'weekday 0', '-7 days'", ", '-1 day'"])})`,
            () => `datetime(${this.col(S, 'd')}${this.pick(['', ", 'start of day'", ", '+90 minutes'"])})`,
            () => `time(${this.col(S, 'd')})`,
            () => `typeof(${this.pick([this.T, this.N, this.J, this.B])(S, d - 1)})`,
            () => `quote(${this.pick([this.T, this.N, this.B])(S, d - 1)})`,
            () => `hex(${this.T(S, d - 1)})`,
            () => `iif(${this.B(S, d - 1)}, ${this.T(S, d - 1)}, ${this.str()})`,
            () => `concat_ws('-', ${this.T(S, d - 1)}, ${this.N(S, d - 1)})`,
            () => `CAST(${this.N(S, d - 1)} AS TEXT)`,
            () => `format('%05d', ${this.N(S, d - 1)})`,
            () => `json_type(${this.J(S)})`,
            () => `max(${this.T(S, d - 1)}, ${this.T(S, d - 1)})`,
            () => `char(65 + ${this.N(S, 0)} % 26)`,
          ])()
    return x ?? this.str()
  }
  readonly N: Make = (S, d = 2) => {
    const x: string | undefined =
      d <= 0 || this.chance(0.35)
        ? this.chance(0.7)
          ? this.col(S, 'n')
          : this.num()
        : this.pick<() => string | undefined>([
            () => `(${this.N(S, d - 1)} ${this.pick(['+', '-', '*', '/', '%'])} ${this.N(S, d - 1)})`,
            () => `${this.N(S, d - 1)} / ${this.pick(['2', '2.0', '3.0', '0'])}`,
            () => `abs(${this.N(S, d - 1)})`,
            () => `round(${this.N(S, d - 1)}${this.pick(['', ', 1', ', 2', ', 0'])})`,
            () => `length(${this.T(S, d - 1)})`,
            () => `instr(${this.T(S, d - 1)}, 'a')`,
            () =>
              `CAST(${this.pick([this.T, this.N])(S, d - 1)} AS ${this.pick(['INTEGER', 'REAL', 'NUMERIC', 'DECIMAL(10,2)', 'INT'])})`,
            () => `julianday(${this.col(S, 'd')})`,
            () => `unixepoch(${this.col(S, 'd')})`,
            () => `coalesce(${this.N(S, d - 1)}, 0)`,
            () => `min(${this.N(S, d - 1)}, ${this.N(S, d - 1)})`,
            () => `json_array_length(${this.J(S)})`,
            () => `json_extract(${this.J(S)}, '$.size')`,
            () => `sqrt(abs(${this.N(S, d - 1)}))`,
            () => `pow(${this.N(S, 0)}, 2)`,
            () => `floor(${this.N(S, d - 1)})`,
            () => `-${this.N(S, 0)}`,
            () => `ifnull(${this.N(S, d - 1)}, -1)`,
            () => `sign(${this.N(S, d - 1)})`,
            () => `(${this.B(S, d - 1)})`,
            () => `unicode(${this.T(S, d - 1)})`,
            () => `${this.N(S, 0)} * 1.0`,
            () => `log(${this.N(S, 0)} + 2)`,
          ])()
    return x ?? this.num()
  }
  readonly J: Make = (S) =>
    this.col(S, 'j')
      ? this.chance(0.7)
        ? `CASE WHEN json_valid(${this.col(S, 'j')}) THEN ${this.col(S, 'j')} END`.replace(
            /json_valid\((.*?)\) THEN .* END/,
            'json_valid($1) THEN $1 END',
          )
        : this.col(S, 'j')
      : `json_object('k', ${this.N(S, 0)}, 't', ${this.T(S, 0)})`
  readonly Jx: Make = (S) =>
    this.pick([
      () => this.J(S),
      () => `json_extract(${this.J(S)}, '$.${this.pick(['size', 'k', 'a', 'a.b'])}')`,
      () => `${this.J(S)} -> '$.a'`,
      () => `${this.J(S)} ->> 'size'`,
      () => `json_object('a', ${this.T(S, 1)}, 'n', ${this.N(S, 1)})`,
      () => `json_array(${this.N(S, 1)}, ${this.T(S, 1)}, NULL)`,
      () => `json_set(${this.J(S)}, '$.z', ${this.N(S, 0)})`,
      () => `json_quote(${this.T(S, 0)})`,
    ])()
  readonly B: Make = (S, d = 2) => {
    const x = this.pick<() => string | undefined>([
      () =>
        `${this.N(S, d - 1)} ${this.pick(['<', '<=', '>', '>=', '=', '!=', '<>', 'IS', 'IS NOT'])} ${this.N(S, d - 1)}`,
      () =>
        `${this.T(S, d - 1)} ${this.pick(['=', '!=', '<', '>', 'LIKE', 'NOT LIKE', 'GLOB'])} ${this.pick([() => this.T(S, d - 1), this.str])()}`,
      () => `${this.T(S, d - 1)} = ${this.str()} COLLATE NOCASE`,
      () => `${this.T(S, 0)} IN (${this.str()}, ${this.str()}, 'news')`,
      () => `${this.N(S, d - 1)} BETWEEN ${this.num()} AND ${this.num()}`,
      () => `${this.T(S, d - 1)} = ${this.num()}`,
      () => this.col(S, 'b') ?? 'TRUE',
      () => `${this.col(S, 'b') ?? '1'} = ${this.pick(['TRUE', 'FALSE', '1', '0', "'1'"])}`,
      () => `${this.col(S, 'b') ?? '1'} IS TRUE`,
      () => `NOT (${this.B(S, d - 1)})`,
      () => `(${this.B(S, d - 1)} ${this.pick(['AND', 'OR'])} ${this.B(S, d - 1)})`,
      () => `${this.J(S)} IS ${this.pick(['NULL', 'NOT NULL'])}`,
      () => `${this.col(S, 'd')} >= '2024-0${1 + this.int(9)}-01'`,
      () => `${this.col(S, 'd')} != ''`,
    ])()
    return d <= -2 ? '1' : x
  }
  readonly wrap = (x = ''): string =>
    /^[a-z]+\.\w+$/i.test(x) || /^\w+\([^ ]*\)$/.test(x) || this.chance(0.03) ? x : `(${x})`
  readonly any = (S: Scope, d = 2): string => this.wrap(this.any0(S, d))
  readonly any0: Make = (S, d = 2) =>
    this.pick<Make>([
      this.T,
      this.N,
      this.N,
      this.B,
      this.Jx,
      (s) => this.col(s, 'd'),
      (s) => this.col(s, 'n') ?? this.num(),
      (s) => this.col(s, 't'),
      (s) => this.col(s, 'b') ?? 'TRUE',
      (s) => this.col(s, 'j') ?? 'NULL',
    ])(S, d)
  readonly agg = (S: Scope): string => this.wrap(this.agg0(S))
  readonly agg0: Make = (S) =>
    this.pick([
      () => 'COUNT(*)',
      () => `COUNT(DISTINCT ${this.T(S, 0)})`,
      () => `SUM(${this.N(S, 1)})`,
      () => `AVG(${this.N(S, 0)})`,
      () => `TOTAL(${this.N(S, 0)})`,
      () => `MIN(${this.any(S, 0)})`,
      () => `MAX(${this.col(S, 'd')})`,
      () => `group_concat(${this.T(S, 0)}, '; ')`,
      () => `GROUP_CONCAT(DISTINCT ${this.T(S, 0)})`,
      () => `json_group_array(${this.any(S, 0)})`,
      () => `json_group_object(${this.col(S, 't')}, ${this.N(S, 0)})`,
      () => `SUM(${this.N(S, 0)}) FILTER (WHERE ${this.B(S, 1)})`,
      () => `COUNT(${this.pick([this.T, this.N])(S, 1)})`,
      () => `100.0 * SUM(${this.col(S, 'b') ?? '1'}) / COUNT(*)`,
      () => `ROUND(AVG(${this.N(S, 0)}), 2)`,
      () => `string_agg(${this.T(S, 0)}, ',' ORDER BY ${this.N(S, 0)}, ${this.col(S, 't')})`,
      () => `CAST(SUM(${this.N(S, 0)}) AS INTEGER)`,
    ])()
  readonly win = (S: Scope): string => this.wrap(this.win0(S))
  readonly win0: Make = (S) =>
    `${this.pick([() => 'ROW_NUMBER()', () => 'RANK()', () => 'DENSE_RANK()', () => `SUM(${this.N(S, 0)})`, () => `LAG(${this.T(S, 0)}, 1, 'none')`, () => `LEAD(${this.N(S, 0)})`, () => `NTILE(4)`, () => `FIRST_VALUE(${this.T(S, 0)})`, () => `COUNT(*)`, () => 'PERCENT_RANK()'])()} OVER (${this.chance(0.5) ? `PARTITION BY ${this.T(S, 0)} ` : ''}ORDER BY ${this.N(S, 0)}, ${S[0]![0]}.id${this.chance(0.2) ? ' ROWS BETWEEN 2 PRECEDING AND CURRENT ROW' : ''})`
  readonly from = (): readonly [Scope, string] =>
    this.pick<() => readonly [Scope, string]>([
      () => [[['p', 'posts']], 'posts p'],
      () => [[['u', 'people']], 'people u'],
      () => [[['c', 'comments']], 'comments AS c'],
      () => [
        [
          ['p', 'posts'],
          ['u', 'people'],
        ],
        `posts p ${this.pick(['JOIN', 'INNER JOIN', 'LEFT JOIN'])} people u ON u.id = p.author`,
      ],
      () => [
        [
          ['c', 'comments'],
          ['p', 'posts'],
        ],
        `comments c ${this.pick(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'])} posts p ON p.id = c.post`,
      ],
      () => [
        [
          ['u', 'people'],
          ['p', 'posts'],
          ['c', 'comments'],
        ],
        'people u LEFT JOIN posts p ON p.author = u.id LEFT JOIN comments c ON c.post = p.id',
      ],
      () => [
        [
          ['p', 'posts'],
          ['u', 'people'],
        ],
        'posts p, people u',
      ],
      () => [[['p', 'posts']], 'posts'],
    ])()
  readonly shape = (depth = 0): string => {
    const [scope, F] = this.from()
    const S: Scope = F === 'posts' ? [['posts', 'posts']] : scope
    let where = this.chance(0.6) ? (this.B(S) ?? '') : ''
    if (F === 'posts p, people u') where = `u.id = p.author${where ? ` AND ${where}` : ''}`
    if (this.chance(0.12))
      where = [
        where,
        this.pick([
          () => `EXISTS (SELECT 1 FROM comments x WHERE x.author = ${this.col(S, 't')})`,
          () =>
            `${this.col(S, 'n')} > (SELECT AVG(${this.col(S, 'n')!.split('.')[1]}) FROM ${S.find(([a]) => a === this.col(S, 'n')!.split('.')[0])?.[1] ?? S[0]![1]})`
              .replace(/AVG\(.*\)/, 'AVG(score)')
              .replace(/FROM \w+\)$/, 'FROM comments)'),
          () => `${S[0]![0]}.id IN (SELECT ${this.pick(['post', 'author', 'id'])} FROM comments WHERE score > 0)`,
        ])(),
      ]
        .filter(Boolean)
        .join(' AND ')
    const W = where ? ` WHERE ${where}` : '',
      first = S[0]![0]
    const order = (list: readonly (string | undefined)[]): string =>
      (this.chance(0.5)
        ? ` ORDER BY ${list.map((x) => `${x}${this.pick(['', ' DESC', ' ASC', ' COLLATE NOCASE', ' DESC NULLS LAST', ' NULLS FIRST'])}`).join(', ')}`
        : '') +
      (this.chance(0.2) ? ` LIMIT ${1 + this.int(40)}${this.chance(0.4) ? ` OFFSET ${this.int(10)}` : ''}` : '')
    const names = Array.from({ length: 1 + this.int(3) }, (_, i) => `c${i}`)
    switch (
      this.chance(0.4)
        ? 'plain'
        : this.pick(['group', 'group', 'group', 'window', 'union', 'with', 'scalar', 'each', 'distinct', 'nested'])
    ) {
      case 'group': {
        const key = this.pick([
            () => this.T(S, 1),
            () => this.col(S, 't'),
            () => `strftime('%Y-%m', ${this.col(S, 'd')})`,
            () => `date(${this.col(S, 'd')})`,
          ])(),
          having = this.chance(0.3)
            ? ` HAVING ${this.pick(['COUNT(*) > 1', `SUM(${this.N(S, 0)}) > 0`, `MAX(${this.N(S, 0)}) < 900`])}`
            : ''
        return `SELECT ${this.pick([`${this.wrap(key)} AS id`, '(ROW_NUMBER() OVER()) AS id'])}, ${names.map((n) => `${this.chance(0.25) ? this.any(S, 1) : this.agg(S)} AS ${n}`).join(', ')} FROM ${F}${W} GROUP BY ${key}${having}${order(['c0', '1'])}`
      }
      case 'window':
        return `SELECT ${first}.id, ${names.map((n, i) => `${i ? this.any(S, 1) : this.win(S)} AS ${n}`).join(', ')} FROM ${F}${W}${order([`${first}.id`])}`
      case 'union':
        return `${this.chance(0.7) ? 'SELECT q.id, q.c0, q.c1 FROM (' : ''}SELECT id, name AS c0, age AS c1 FROM people ${this.chance(0.5) ? 'WHERE age > 40' : ''} ${this.pick(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'])} SELECT id, ${this.pick(['title', 'category', 'views'])}, ${this.pick(['views', 'rating', 'title', 'day', 'NULL'])} FROM posts ${this.chance(0.5) ? 'ORDER BY 3 DESC, 1' : ''}`.replace(
          /^SELECT q[\s\S]*/,
          (x) => x + ') q',
        )
      case 'with':
        return this.pick([
          () =>
            `WITH s AS (SELECT author, ${this.agg([['p', 'posts']])} AS n FROM posts p GROUP BY author) SELECT u.id, s.n AS c0, ${this.any([['u', 'people']], 1)} AS c1 FROM people u ${this.pick(['JOIN', 'LEFT JOIN'])} s ON s.author = u.id`,
          () =>
            `WITH RECURSIVE days(d) AS (SELECT '2024-01-01' UNION ALL SELECT date(d, '+1 day') FROM days LIMIT ${5 + this.int(30)}) SELECT d AS id, (SELECT COUNT(*) FROM posts p WHERE date(p.day) = d) AS c0 FROM days`,
          () =>
            `WITH a AS (SELECT id, published AS c0, rating AS c1, meta AS c2, day AS c3 FROM posts), b AS (SELECT * FROM a WHERE c1 > 2) SELECT b.id AS id, b.c0, b.c1, b.c2, b.c3 FROM b`,
        ])()
      case 'scalar':
        return `SELECT u.id, (SELECT ${this.agg([['p', 'posts']])} FROM posts p WHERE p.author = u.id) AS c0, ${this.any([['u', 'people']], 1)} AS c1 FROM people u${order(['u.id'])}`
      case 'each':
        return `SELECT (p.id || '-' || j.key) AS id, j.value AS c0, j.type AS c1 FROM posts p, json_each(${this.pick(['p.tags', "CASE WHEN json_valid(p.meta) THEN p.meta ELSE '[]' END"])}) j${this.chance(0.3) ? " WHERE j.value != 'a'" : ''}`
      case 'distinct':
        return `SELECT DISTINCT ${this.wrap(this.T(S, 1))} AS id, ${this.any(S, 0)} AS c0 FROM ${F}${W}${order(['id', 'c0'])}`
      case 'nested':
        return depth
          ? `SELECT ${first}.id, ${this.any(S)} AS c0 FROM ${F}${W}`
          : `SELECT q.id, q.c0 AS c0, (q.c0 ${this.pick(['IS NULL', '|| 1', '+ 1'])}) AS c1 FROM (SELECT ${first}.id AS id, ${this.any(S)} AS c0 FROM ${F}${W}) q`
      default:
        return `SELECT ${this.pick([`${first}.id`, `${first}.id AS id`, '(ROW_NUMBER() OVER()) AS id'])}, ${names.map((n) => (this.chance(0.2) ? `${this.any(S)} ${n}` : `${this.any(S)} AS ${n}`)).join(', ')} FROM ${F}${W}${order([this.pick(['c0', `${first}.id`, this.N(S, 1)]), `${first}.id`])}`
    }
  }
}
