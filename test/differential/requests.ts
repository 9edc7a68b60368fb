/** Generates the parts of requests around objects: options, headers, media types, and bodies as text. */
import type { Json } from '../conformance/scenario.ts'
import { managers } from './metadata.ts'
import { listed, type Random } from './random.ts'
import { oddCharacters, withLiterals } from './values.ts'

type Query = [string, string][]

export const queryText = (query: Query): string =>
  query.length === 0 ? '' : `?${query.map(([name, value]) => `${name}=${encodeValue(value)}`).join('&')}`

/** Keeps placeholders unescaped. */
const encodeValue = (value: string): string =>
  value
    .split(/(\{\{\w+\}\})/)
    .map((part) => (part.startsWith('{{') ? part : encodeURIComponent(part)))
    .join('')

export function writeQuery(random: Random, oddness: number, dryRun: number, apply = false): Query {
  const query: Query = []
  const odd = () => random.chance(oddness / 3)
  const manager = odd()
    ? random.pick(['', 'm'.repeat(129), 'a\u0007b', 'ünï', `a${random.pick(oddCharacters)}b`])
    : random.pick(managers)
  if (apply ? !odd() : random.chance(0.6)) query.push(['fieldManager', manager])
  if (apply ? random.chance(0.3) : odd())
    query.push(['force', random.pick(['true', 'true', 'false', '0', '', 'maybe'])])
  if (random.chance(dryRun) || odd()) query.push(['dryRun', odd() ? random.pick(['', 'true', 'all']) : 'All'])
  if (odd()) query.push(['dryRun', 'All'])
  if (random.chance(0.25)) {
    query.push([
      'fieldValidation',
      odd() ? random.pick(['', 'strict', 'Foo']) : random.pick(['Strict', 'Warn', 'Ignore']),
    ])
  }
  if (odd()) query.push(['pretty', random.pick(['true', '1', 'yes'])])
  if (odd()) query.push(['unknown', '1'])
  return query
}

export function listQuery(random: Random, oddness: number, base: readonly string[]): Query {
  const query: Query = []
  const odd = () => random.chance(oddness / 3)
  const labels = [...base]
  const selectors = [
    ...listed('a ; !a ;  ! a  ; a=x ; a == x ; a!=x ; a in (x,y) ; a in (x, ) ; a in () ; a in (,)'),
    ...listed('a notin (x) ; a notin ( x , y ) ; tier ; example.com/x=y ; a>1 ; a<2 ; a> -1 ; a== ; a= ; a!='),
    ...listed('in in (in) ; notin ; a=in ; a=x,b ; a=x,a=y ; a,!a ; a in (x),b notin (y),!tier ; '),
  ]
  const badSelectors = [
    ...listed('a===x ; a in x ; a in (x ; , ; a b ; =x ; ( ; a/b/c ; a>x ; ! ; a=bad value ; a,,b'),
    ...listed('a in (bad value) ; a in ; a notin ; a in ((x)) ; a in (x)b ; a!x ; a!!=x ; !a=x ; ! in (x) ; a>'),
    ...listed('a>1.5 ; a<x ; a=x=y ; a=x b=y ; a, ; ,a ; a=(x)'),
    `${'k'.repeat(64)}=x`,
    `a=${'v'.repeat(64)}`,
    'Example.com/x',
    'ü',
    'a=ü',
    'a in (x,ü)',
    'a>99999999999999999999',
    'a\0',
    '\0a',
    'a=x\0,b',
    'a=x,\0b',
    `a=${random.pick(oddCharacters)}`,
    `${random.pick(oddCharacters)}`,
  ]
  if (random.chance(0.4)) labels.push(random.pick(selectors))
  if (odd()) labels.push(random.pick(badSelectors))
  if (labels.length > 0) query.push(['labelSelector', labels.join(',')])
  const fields = [
    ...listed('metadata.name={{run}}-a ; metadata.name!={{run}}-a ; metadata.namespace={{run}}'),
    ...listed('metadata.name=x ; metadata.name==x,metadata.name!=y'),
    ...listed('metadata.name={{run}}-a,metadata.name={{run}}-b ; metadata.name= ; metadata.name!='),
    ...listed('metadata.name={{run}}-b, ; metadata.name=x\\,y ; '),
  ]
  const badFields = [
    ...listed('spec.displayName=x ; bad ; metadata.name=a\\b ; metadata.labels=x ; = ; metadata.name ; ,'),
    ...listed('metadata.name=a=b ; metadata.name=a\\ ; metadata.name = a ; metadata.name=a,,spec.displayName=x'),
    ...listed('metadata.name!==a ; =x ; !=x ; x= ; metadata.name in (a) ; metadata.uid=x ; kind=x'),
  ]
  if (random.chance(0.25)) query.push(['fieldSelector', random.pick(fields)])
  if (odd()) query.push(['fieldSelector', random.pick(badFields)])
  if (random.chance(0.3))
    query.push([
      'limit',
      odd()
        ? random.pick([
            '-1',
            'abc',
            '',
            '1.5',
            '99999999999999999999',
            `${'9'.repeat(80)}x`,
            `1${random.pick(oddCharacters)}`,
          ])
        : random.pick(['0', '1', '2', '3']),
    ])
  if (random.chance(0.15)) query.push(['continue', odd() ? random.pick(['abc', '', '!!', 'e30']) : '{{continue}}'])
  if (random.chance(0.1) || odd())
    query.push([
      'resourceVersion',
      odd() ? random.pick(['abc', '-1', '', ...oddVersions('{{rv_list}}')]) : random.pick(['0', '{{rv_list}}']),
    ])
  if (odd()) query.push(['resourceVersionMatch', random.pick(['Exact', 'NotOlderThan', 'Foo', ''])])
  if (odd()) query.push(['timeoutSeconds', random.pick(['5', 'abc', ''])])
  if (odd()) query.push(['sendInitialEvents', random.pick(['true', 'false', ''])])
  if (odd()) query.push(['allowWatchBookmarks', random.pick(['true', 'x'])])
  return query
}

/** Returns variants of a version, and versions that are invalid or in the future. Leading zeros are ignored. */
export const oddVersions = (version: string): string[] => [
  `0${version}`,
  `000${version}`,
  '00',
  '9007199254740993',
  '18446744073709551615',
  '18446744073709551616',
  'x'.repeat(80),
]

const json = 'application/json'
const meta = 'g=meta.k8s.io'

export function accept(random: Random, oddness: number, isList: boolean): string | undefined {
  if (!random.chance(0.15 + oddness)) return undefined
  const partial = isList ? 'PartialObjectMetadataList' : 'PartialObjectMetadata'
  const right = [
    `${json};as=Table;v=v1;${meta},${json}`,
    `${json};as=Table;v=v1beta1;${meta}`,
    `${json};as=${partial};v=v1;${meta}`,
    `${json};as=${partial};v=v1;${meta},${json}`,
    '*/*',
    'application/*',
    'application/yaml',
  ]
  const odd = [
    'text/html',
    '',
    `${json};as=Foo;v=v1;${meta}`,
    `${json};as=Table;v=v2;${meta}`,
    `${json};as=Table;v=v1;g=other`,
    `${json};as=Table`,
    `${json};as=${isList ? 'PartialObjectMetadata' : 'PartialObjectMetadataList'};v=v1;${meta}`,
    `${json};as=Foo;v=v1;${meta}, application/yaml`,
    `text/html;q=0.9, ${json};q=0.1`,
    `application/yaml;q=0.1, ${json};q=0.9`,
    `${json};stream=watch`,
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    ',',
    '*/*;as=Table;v=v1;g=meta.k8s.io',
    'application/json;pretty=1',
  ]
  return random.chance(oddness) ? random.pick(odd) : random.pick(right)
}

export const userAgents = ['kubectl/v1.34 (linux)', '/x', 'curl/8', 'a b/c', 'm1', 'Mozilla/5.0']

export interface Text {
  body: Json
  type: string | null
}

/** Returns the text of a body: usually JSON, sometimes YAML, and sometimes neither. */
export function encodeBody(value: Json, random: Random, oddness: number, jsonType = json): Text {
  const plain = JSON.stringify(value)
  const text = withLiterals(plain)
  const isJson = jsonType === json
  if (random.chance(oddness / 3)) return corrupt(text, random, jsonType)
  if (isJson && random.chance(0.1)) return { body: yamlOf(value, random, oddness), type: 'application/yaml' }
  if (jsonType.includes('yaml') && random.chance(0.3)) return { body: yamlOf(value, random, oddness), type: jsonType }
  if (isJson && random.chance(oddness / 4))
    return {
      body: text,
      type: random.pick([
        null,
        'text/plain',
        'application/json; charset=utf-8',
        'Application/JSON',
        'application/xml',
        '',
        'application/json;;',
        'application/json;a=b;a=b',
        'application/json;a=b;a=c',
        'application/json; a = "b" ;A=c',
        'application/json;a="b',
        ';a=b',
      ]),
    }
  return text === plain && isJson ? { body: value, type: json } : { body: text, type: jsonType }
}

function corrupt(text: string, random: Random, type: string): Text {
  // Text after the first YAML document is not read.
  const isJson = !type.includes('yaml')
  const changes = [
    ...(isJson ? [`${text}x`, `${text}${text}`] : []),
    '',
    'null',
    '[]',
    '"text"',
    '5',
    '{}',
    '{"kind":5}',
    `\ufeff${text}`,
    `${text.slice(0, -1)}`,
    `${text.slice(0, -1)},}`,
    text.replaceAll('"', "'"),
    text.replace('{', '{"spec":{"displayName":"twice"},'),
    text.replace('{', '{"kind":"Twice",'),
    text.replace('"metadata":{', '"metadata":{"name":"twice",'),
    text.replace('"spec":{', '"spec":{"displayName":"one","displayName":"two",'),
    ` \n${text}\n `,
  ]
  return { body: random.pick(changes), type }
}

/** Returns YAML in block style, optionally with syntax that JSON lacks. */
function yamlOf(value: Json, random: Random, oddness: number): string {
  const text = `${block(value, 0)}\n`
  if (!random.chance(oddness) || text.startsWith('{')) return text
  return random.pick([
    `---\n${text}`,
    `${text}---\nkind: Second\n`,
    `# comment\n${text}`,
    `${text}spec: {displayName: twice}\n`,
    `${text}unknown: &x [1]\nother: *x\n`,
    text.replace('metadata:', 'metadata:\n  name: twice'),
    `\t${text}`,
    `${text}  bad: indent\n`,
    `${text}1: number\ntrue: flag\n`,
    'text',
    '[]',
    '',
    '{',
    '%YAML 1.1\n---\n',
  ])
}

function block(value: Json, depth: number): string {
  if (value === undefined) return 'null'
  const indent = '  '.repeat(depth)
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0) {
    return withLiterals(JSON.stringify(value))
  }
  const lines = Array.isArray(value)
    ? value.map((one) => `${indent}- ${withLiterals(JSON.stringify(one))}`)
    : Object.entries(value).map(([key, one]: [string, Json]) => {
        const name = /^[A-Za-z][\w./-]*$/.test(key) ? key : JSON.stringify(key)
        const isLeaf = one === null || typeof one !== 'object' || Object.keys(one).length === 0
        return `${indent}${name}:${isLeaf ? ` ${block(one, 0)}` : `\n${block(one, depth + 1)}`}`
      })
  return lines.join('\n')
}
