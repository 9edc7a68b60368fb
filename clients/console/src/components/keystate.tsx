import type { AccessKey } from '../../../core/src/objects.ts'
import { stateWords } from '../api/keyfacts.ts'
import { Badge, type Tone } from './badge.tsx'

const TONES: Readonly<Record<string, Tone>> = {
  Active: 'good',
  Leaked: 'bad',
  'Rotation pending': 'warn',
  Terminating: 'warn',
}

/** Shows the state of a key, the same on each page. */
export const KeyState = ({ accessKey }: { accessKey: AccessKey }) =>
  stateWords(accessKey).map((words) => <Badge tone={TONES[words] ?? 'plain'} text={words} key={words} />)
