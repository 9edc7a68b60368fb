import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import type { ClusterKind } from './kinds.ts'
import { KubeConfigDialog } from './kubeconfigdialog.tsx'
import type { Place } from './ways.ts'
import type { Shown } from './words.ts'

export function ClusterRow({ cluster, kind }: { cluster: Shown; kind: ClusterKind }) {
  const { place, displayName, state, facts, sentence, canUse, missing } = cluster
  const [isOpen, open] = useState(false)
  return (
    <li class="card">
      <div>
        <h2>
          <Foreign text={place.name} />
        </h2>
        {displayName && (
          <p>
            <Foreign text={displayName} />
          </p>
        )}
        {state && <Badge tone={state.tone} text={visible(state.text)} />}
        {state?.details.map((one) => (
          <p class="hint" key={one}>
            <Foreign text={one} />
          </p>
        ))}
      </div>
      <div>
        <dl>
          {facts.map(([term, text]) => (
            <Fragment key={term}>
              <dt>{term}</dt>
              <dd>
                <Foreign text={text} />
              </dd>
            </Fragment>
          ))}
        </dl>
        {sentence && (
          <p class="hint">
            <Foreign text={sentence} />
          </p>
        )}
      </div>
      {!canUse && <MayNot place={place} resource={`${kind.resource}/kubeconfig`} />}
      {canUse && missing && <p class="muted">{missing}</p>}
      {canUse && !missing && (
        <button type="button" onClick={() => open(true)}>
          Download kube config<span class="hidden"> of {visible(place.name)}</span>
        </button>
      )}
      {isOpen && <KubeConfigDialog cluster={cluster} onClose={() => open(false)} />}
    </li>
  )
}

function MayNot({ place: { name, namespace }, resource }: { place: Place; resource: string }) {
  const { self } = useSession()
  const question = { key: self.accessKey, verb: 'create', resource, name, ...(namespace && { namespace }) }
  return (
    <p class="muted">
      You may not use it. <a href={hrefOf('may-it', [], question)}>Why?</a>
    </p>
  )
}
