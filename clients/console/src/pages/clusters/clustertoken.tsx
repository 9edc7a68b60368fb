import { useState } from 'preact/hooks'
import { HOUR_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import { isName } from '../../../../core/src/forms.ts'
import { paths } from '../../api/paths.ts'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { ErrorNotice } from '../../components/notice.tsx'
import { useReveal } from '../../session/revealed.ts'
import { useSession } from '../../session/session.ts'
import { exact } from '../../text/times.ts'
import { LIFETIMES } from './ways.ts'

/** Makes a token for a connected cluster, which is shown once. */
export function ClusterToken() {
  const { api } = useSession()
  const reveal = useReveal()
  const [cluster, setCluster] = useState('')
  const [ttl, setLifetime] = useState(HOUR_SECONDS)
  const [state, setState] = useState<{ wrong?: string; error?: unknown; isBusy?: boolean }>({})
  const make = async () => {
    const name = cluster.trim()
    // A token holds for every cluster with `*`, so only one name is taken.
    if (!isName(name)) {
      return setState({
        wrong: name === '' ? 'Enter the name of a connected cluster.' : 'This cannot be the name of a cluster.',
      })
    }
    setState({ isBusy: true })
    try {
      const { status } = await api.send<{ status: { token: string; expirationTimestamp: string } }>(
        paths.clusterTokens,
        {
          method: 'POST',
          body: { spec: { ttl, scope: { clusters: [{ cluster: name }] } } },
        },
      )
      const end = exact(new Date(status.expirationTimestamp))
      reveal({
        title: `A token for ${name}`,
        name,
        value: status.token,
        isToken: true,
        explanation: [
          `Present it to the API server of ${name} as a bearer token.`,
          `It is valid until ${end}, or until your access key ends. It is not shown again.`,
        ].join(' '),
      })
      setState({})
    } catch (error) {
      setState({ error })
    }
  }
  return (
    <section class="card clusters token">
      <div>
        <h2>A token for a connected cluster</h2>
        <p class="muted">
          Any connected cluster accepts it in place of a password, also one that is not listed. kubectl renews such
          tokens by itself with <code>keyplane kubeconfig --cluster</code>.
        </p>
      </div>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <TextField label="Connected cluster" error={state.wrong} value={cluster} onInput={setCluster} />
        <SelectField label="Lifetime" value={ttl} options={LIFETIMES} onChange={(seconds) => setLifetime(seconds)} />
        <button type="submit" disabled={state.isBusy}>
          Make a token
        </button>
      </form>
      {state.error !== undefined && <ErrorNotice error={state.error} />}
    </section>
  )
}
