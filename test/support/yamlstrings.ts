/** Strings that look like other values of YAML, and which of them Kubernetes quotes. */
import quoted from './vectors/yamlstrings.json' with { type: 'json' }

const product = (...parts: readonly (readonly string[])[]): string[] =>
  parts.reduce<string[]>((texts, part) => texts.flatMap((text) => part.map((one) => text + one)), [''])

const SHORT = [...'016_.:-+exob']
const WORDS = ['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null', '.inf', '-.inf', '+.inf', '.nan', 'nil']
const OTHERS = [
  '',
  '~',
  '<<',
  '=',
  '<',
  '~a',
  'yess',
  'ont',
  '- a',
  '-',
  '? a',
  '# a',
  'a #b',
  'a: b',
  'a:',
  '*a',
  '&a',
  '!a',
  '|',
  '>',
  '%a',
  '@a',
]
const SIXTIES = ['0', '00', '1', '07', '12', '190', '1_0', '685230']
const MINUTES = ['0', '5', '07', '30', '59', '60']

/** Returns the next numbers of a generator with this seed (mulberry32), so that the strings are always the same. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    yield (mixed ^ (mixed >>> 14)) >>> 0
  }
}

function random(count: number): string[] {
  const source = numbers(43)
  const below = (limit: number): number => source.next().value % limit
  const letters = [...'0123456789:_.-+eExXoObBtTzZ yn']
  return Array.from({ length: count }, () =>
    Array.from({ length: 4 + below(6) }, () => letters[below(below(2) === 0 ? 12 : letters.length)] ?? '').join(''),
  )
}

/** The strings, each once. */
export const yamlStrings: readonly string[] = [
  ...new Set([
    ...OTHERS,
    ...WORDS.flatMap((word) => [word, word.toUpperCase(), word[0]?.toUpperCase() + word.slice(1), `${word}_`]),
    ...product(SHORT),
    ...product(SHORT, SHORT),
    ...product(SHORT, SHORT, SHORT),
    ...product(['', '-', '+'], SIXTIES, [':'], MINUTES, ['', '.', '.5', '.5_0', ':30', ':61', ':09.25']),
    ...product(
      ['1999', '2026', '0001', '26'],
      ['-'],
      ['1', '01', '12', '13'],
      ['-'],
      ['2', '02', '31', '32'],
      ['', 'T1:02:03Z', 't10:20:30.5+01:00', ' 10:20:30', ' 10:20:30.5 -5'],
    ),
    ...product(
      ['', '-', '+'],
      ['0x', '0X', '0o', '0O', '0b', '0B', '0'],
      ['0', '7', '8', '1_0', 'f', '11', '9007199254740993'],
    ),
    ...product(
      ['', '-', '+'],
      ['1', '1_000', '.5', '1.', '1.5', '._5', '.5_0'],
      ['', 'e3', 'E+3', 'e-3', 'e400', 'e', '_'],
    ),
    ...product(['52:', '00:'], ['54:', '5a:', '99:'], ['00:', '44:'], ['49:', '61:'], ['56', '00', 'fe']),
    ...random(5400),
  ]),
].toSorted()

if (quoted.strings !== yamlStrings.length) throw new Error('yamlstrings.json was made for other strings.')

const bits = Buffer.from(quoted.quoted, 'base64')

/** The strings that sigs.k8s.io/yaml 1.6.0 quotes, because some reader takes them for something else. */
export const quotedByKubernetes: readonly string[] = yamlStrings.filter(
  (_, at) => ((bits[at >> 3] ?? 0) >> (at & 7)) & 1,
)
