/** Where answers may differ from those of a kube-apiserver, by rule and not by request: each with its reason. */
import type { Answer, Step } from '../conformance/scenario.ts'

export interface Tolerance {
  reason: string
  /** `earlier`: the steps before. */
  fits(want: Answer, got: Answer, step: Step, earlier: readonly Step[]): boolean
  /** What follows is not compared: the two servers are not in one state any more. */
  ends?: true
}

const sortedText = (text: string): string => [...text].sort().join('')

/** The message, without quotes where it comes in YAML; all lines where it has several. */
function textOf({ body, lines = [] }: Answer): string {
  const line = lines.find((one) => /^message: [^|]/.test(one))
  return typeof body?.message === 'string' ? body.message : (line?.slice('message: '.length) ?? lines.join('\n'))
}

const unquoted = (text: string): string => text.replace(/["']/g, '')

const both = (want: Answer, got: Answer, pattern: RegExp): boolean =>
  want.code === got.code && [want, got].every((answer) => pattern.test(textOf(answer)))

const sorted = (answer: Answer): string => sortedText(JSON.stringify(answer))
/** Without members of metadata that are null or {}. */
function withoutEmpty(answer: Answer): string {
  const entries = Object.entries(answer.body?.metadata ?? {})
  const filled = entries.filter(([, value]) => value !== null && JSON.stringify(value) !== '{}')
  return sorted({ ...answer, body: { ...answer.body, metadata: Object.fromEntries(filled) } })
}

const versionless = (answer: Answer): string => sorted(JSON.parse(JSON.stringify(answer).replace(/rv#\d+/g, 'rv')))
const numberless = (answer: Answer): string => sortedText(JSON.stringify(answer).replace(/:-?\d[\d.eE+-]*/g, ':n'))
const versionOf = (answer: Answer): number => Number(/rv#(\d+)/.exec(JSON.stringify(answer))?.[1] ?? 0)

const isApply = ({ headers }: Step): boolean => /apply-patch/.test(headers?.['content-type'] ?? '')
const objectPath = (path: string): string => path.replace(/(\/status)?(\?.*)?$/, '')

/** Without the status, of which nothing but what is computed may be left, and without that. */
const plainLines = ({ lines = [] }: Answer): string[] => lines.filter((line) => !/^(status:|canUse: )/.test(line))

/** The events of a watch by name and type, in no order; '' of another answer. */
const eventsOf = ({ events = [] }: Answer): string =>
  events
    .map(({ type, object }) => `${type} ${object?.metadata?.name}`)
    .sort()
    .join('\n')

/** What a client reads in Latin-1 is UTF-8. */
const asciiWarning = ({ headers = {} }: Answer): string =>
  Buffer.from(headers.warning ?? '', 'latin1')
    .toString()
    .replace(/[^ -~]/g, (one) => `\\\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

const tolerances: readonly Tolerance[] = [
  {
    reason: 'an empty body is told to be one, where kube-apiserver speaks of the end of JSON or of null',
    fits: (want, got, { body = '' }) =>
      body === '' && want.code === got.code && textOf(got).includes('the request has no body'),
  },
  {
    reason:
      'a field that the kind does not have, or has twice, must not widen access: refused unless the client asks otherwise',
    ends: true,
    fits: (want, got, { path }) =>
      !/[?&]fieldValidation=\w/.test(path) &&
      [400, 422].includes(got.code) &&
      /strict decoding (error|YAML)/.test(textOf(got)) &&
      !/strict decoding/.test(textOf(want)),
  },
  {
    reason: 'a map of metadata that an apply emptied lies in etcd until the next write, which then is one',
    ends: true,
    fits: (want, got, { method, path }, earlier) =>
      /^(PUT|PATCH)$/.test(method) &&
      earlier.some((one) => isApply(one) && objectPath(one.path) === objectPath(path)) &&
      versionless(want) === versionless(got) &&
      versionOf(want) > versionOf(got),
  },
  {
    reason: 'the write that ends an object shows a map of metadata that an apply emptied',
    fits: (want, got) => want.code === 200 && withoutEmpty(want) !== sorted(want) && withoutEmpty(want) === sorted(got),
  },
  {
    reason: 'a dry run of a deletion that takes the last finalizer away shows an object without anything',
    fits: (want, got, { method }) =>
      method === 'DELETE' && Object.keys(want.body ?? {}).length === 2 && got.body?.status === 'Success',
  },
  {
    reason: 'a deletion that takes the last finalizer away has lost the resourceVersion to compare with there',
    ends: true,
    fits: (want, got) => /ResourceVersion in precondition: ,/.test(textOf(want)) && got.code === 200,
  },
  {
    reason: 'a merge patch keeps the digits of its numbers there, in texts that quote it',
    fits: (want, got) => both(want, got, /is invalid: patch: Invalid value/) && numberless(want) === numberless(got),
  },
  {
    reason: 'sorted lines of YAML have those of computed members among them',
    fits: (want, got) =>
      want.code === got.code && want.lines !== undefined && plainLines(want).join('\n') === plainLines(got).join('\n'),
  },
  {
    reason: 'a configuration that was applied last is kept only where it is one of the kind',
    ends: true,
    fits: (want, got) => /last-applied/.test(JSON.stringify(want)) && !/last-applied/.test(JSON.stringify(got)),
  },
  {
    reason: 'objects of a collection are deleted several at a time, in no order',
    fits: (want, got, _, earlier) =>
      earlier.some(({ method, path }) => method === 'DELETE' && /s(?:\?.*)?$/.test(path)) &&
      eventsOf(want) !== '' &&
      eventsOf(want) === eventsOf(got),
  },
  {
    reason: 'Warnings are in ASCII',
    fits: (want, got) =>
      want.code === got.code &&
      asciiWarning(want) === got.headers?.warning &&
      /[^ -~]/.test(want.headers?.warning ?? ''),
  },
  {
    reason: 'of several options of wrong types another one is named',
    fits: (want, got) =>
      [want, got].every((one) => /^json: cannot unmarshal .* field DeleteOptions\./.test(textOf(one))),
  },
  {
    reason: 'a number beyond float64 is refused as a text that is no JSON, and not quoted',
    fits: (want, got) =>
      want.code >= 400 &&
      got.code === 400 &&
      (/cannot unmarshal number into Go value of type float64/.test(textOf(got)) ||
        textOf(got) === 'Invalid JSON Patch') &&
      /\d[eE]\+?\d{3}/.test(textOf(want)),
  },
  {
    reason: 'a long text is not quoted to its end, so that an answer has a limit',
    fits: (want, got) => {
      const [start = ''] = textOf(got).split('" ...: ')
      return textOf(got).length > 16_384 && want.code === got.code && textOf(want).startsWith(start)
    },
  },
  {
    reason: 'findings of a schema come in no order',
    fits: (want, got) =>
      want.code === 422 &&
      got.code === 422 &&
      sortedText(textOf(want)) === sortedText(textOf(got)) &&
      sortedText(JSON.stringify(want.body?.details) ?? '') === sortedText(JSON.stringify(got.body?.details) ?? ''),
  },
  {
    reason: 'what is wrong with a YAML text is said in the words of its parser',
    fits: (want, got) => both(want, got, /yaml: (line \d+: )?(did|found|could|mapping|control|unknown)/),
  },
  {
    reason: 'what a body leaves out of kind and apiVersion is inferred from the endpoint',
    ends: true,
    fits: (want) =>
      want.code >= 400 &&
      /Object '?Kind'? is missing in|Object 'apiVersion' is missing|the API version in the data \(\)|invalid object type: (?:\/, Kind=|.*, Kind=$)|\.apiVersion accessor error: <nil>|in version "" cannot be handled/.test(
        textOf(want),
      ),
  },
  {
    reason: 'a body that does not say its kind is shown as it was read, without secrets',
    fits: (want, got) =>
      both(
        want,
        got,
        /Object '?Kind'? is missing in|json parse error: json: cannot unmarshal|unexpected GroupVersion string/,
      ),
  },
  {
    reason: 'no message shows a part of a body, which could be a key',
    fits: (want, got) => /<redacted>|u003credacted/.test(textOf(got)) && want.code === got.code,
  },
  {
    reason: 'of the undeclared fields of an applied configuration any may be found first, and ends the search',
    fits: (want, got) => both(want, got, /failed to create typed patch object/),
  },
  {
    reason: 'what a client did wrong is not answered as a failure of the server',
    fits: (want, got) =>
      want.code === 500 &&
      got.code >= 400 &&
      got.code < 500 &&
      (textOf(want).startsWith(textOf(got)) ||
        unquoted(textOf(want)).includes('Object apiVersion is missing') ||
        [want, got].every((one) => textOf(one).startsWith('yaml: '))),
  },
  {
    reason: 'how a uid is compared is no business of clients',
    fits: (want, got) =>
      /StorageError: /.test(textOf(want)) &&
      textOf(want).replace(/StorageError: .*?AdditionalErrorMsg: /, '') === textOf(got) &&
      want.code === got.code,
  },
  {
    reason: 'fields that are computed here are unknown there',
    ends: true,
    fits: (want, got) =>
      [want.headers?.warning, textOf(want)].some((text = '') =>
        /unknown field \\?"status\.(phase|owner|expirationTimestamp)/.test(text),
      ) &&
      (want.code === got.code || want.code >= 400),
  },
  {
    reason: 'nothing but reviews is read or written as protobuf',
    fits: (want, got) =>
      /\bprotobuf\b/.test(textOf(want)) &&
      (want.code === 500 ||
        sortedText(textOf(want)) === sortedText(`${textOf(got)}, application/vnd.kubernetes.protobuf`)),
  },
]

/** Why a difference is none; undefined where it is one. */
export const toleranceOf = (
  step: Step,
  want: Answer,
  got: Answer,
  earlier: readonly Step[] = [],
): Tolerance | undefined => tolerances.find(({ fits }) => fits(want, got, step, earlier))
