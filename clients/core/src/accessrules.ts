/** Says what an access rule of a cluster or a virtual cluster gives those whom it names. */
interface Rule {
  verbs?: readonly string[]
  subresources?: readonly string[]
}

/** Reports whether it lets them create kube configs. */
export const opens = ({ verbs = [], subresources = [] }: Rule): boolean =>
  subresources.includes('kubeconfig')
    ? verbs.some((one) => /^(use|create|\*)$/.test(one))
    : subresources.length === 0 && verbs.includes('use')
