import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiResource } from '../../../../../lib/access/attributes/resourcetext.ts'
import { Form } from '../../components/forms/form.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField, type TextFieldProps } from '../../components/forms/textfield.tsx'
import { PLACES, type Place, type Problems, type Question } from './question.ts'

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', '*']
const ELSEWHERE = ['pods', 'pods/log', 'secrets', 'deployments.apps', 'namespaces', '/metrics', '/version']

export interface QuestionFormProps {
  /** What the form shows until the person changes it. */
  question: Question
  /** The query of the question: another one, as of a link or of going back, replaces what the form shows. */
  query: string
  keys: readonly string[]
  resources: readonly ApiResource[]
  problems: Problems
  onAsk(question: Question): void
}

export function QuestionForm({ question, query, keys, resources, problems, onAsk }: QuestionFormProps) {
  const [asked, setAsked] = useState(question)
  const [shown, setShown] = useState(query)
  if (shown !== query) {
    setShown(query)
    setAsked(question)
  }
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [problems])
  const text = (
    name: keyof Question,
    label: string,
    more: Pick<TextFieldProps, 'hint' | 'offered' | 'placeholder'> = {},
  ) => (
    <TextField
      label={label}
      error={problems[name]}
      value={asked[name]}
      onInput={(value) => setAsked((before) => ({ ...before, [name]: value }))}
      {...more}
    />
  )
  const { place } = asked
  const here = resources.map(({ name }) => name)
  return (
    <Form
      ref={form}
      class="card stack"
      noValidate
      onSubmit={() => {
        // The field is shown for this API only, which alone checks addresses.
        onAsk(asked.place === '' ? asked : { ...asked, from: '' })
      }}
    >
      {text('key', 'May the key', { offered: keys })}
      {text('verb', 'do', { offered: VERBS, placeholder: 'get, list, create …' })}
      {text('resource', 'on the resource, or path', {
        offered: place === '' ? here : ELSEWHERE,
        hint: 'As in kubectl: pods, deployments.apps, pods/log for a subresource. A path begins with a slash.',
      })}
      {text('name', 'of the name', { placeholder: 'all names' })}
      {text('namespace', 'in the namespace', { placeholder: 'none, or all' })}
      <SelectField
        label="at"
        value={place}
        options={Object.entries(PLACES) as [Place, string][]}
        onChange={(place) => setAsked((before) => ({ ...before, place }))}
      />
      {place === 'cluster' && text('at', 'Connected cluster')}
      {(place === 'virtual-cluster' || place === 'space') &&
        text('at', place === 'space' ? 'Space' : 'Virtual cluster', { placeholder: 'PROJECT/NAME' })}
      {place === '' && text('from', 'from the address', { placeholder: 'not checked' })}
      <button type="submit" class="primary">
        Ask
      </button>
    </Form>
  )
}
