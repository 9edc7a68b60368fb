/**
 * Compares the price of the main job with that of a rented cluster. Prices are those listed for us-east-1, in dollars;
 * docs/cost.md has those of a request.
 */

export const hoursPerMonth = 730

/** Prices per hour, or per GB and month. */
const list = { t4gSmall: 0.0168, gp3: 0.08, loadBalancer: 0.0225, address: 0.005, eks: 0.1 }
const disk = 20 * list.gp3
const node = list.t4gSmall * hoursPerMonth + disk

export interface Cluster {
  name: string
  /** Dollars per month. */
  price: number
}

/** The smallest clusters that survive the loss of a zone. */
export const clusters: readonly Cluster[] = [
  {
    name: 'own control plane: 3 t4g.small with 20 GB, a load balancer in 3 zones',
    price: 3 * node + (list.loadBalancer + 3 * list.address) * hoursPerMonth,
  },
  {
    name: 'EKS: its control plane, and 2 t4g.small with 20 GB for the controller',
    price: list.eks * hoursPerMonth + 2 * node,
  },
]

/** The fixed costs of a deployment that does only this job: a signing key, two secrets, 45 alarms, and 14 metrics. */
export const fixed = 1 + 2 * 0.4 + 45 * 0.1 + 14 * 0.3

/** Returns the requests per month from which on the cluster is cheaper. `perMillion` is the price of a million requests. */
export const breakEven = ({ price }: Cluster, perMillion: number): number => ((price - fixed) / perMillion) * 1e6

/** DynamoDB, dollars per unit. */
const units = { read: 0.125e-6, write: 0.625e-6 }
const signature = 15e-6

/** API Gateway, Lambda and logs. */
const request = (3.5 + 0.84 + 1.35) / 1e6

/** Returns the price of a million requests that consume these units and signatures each. */
export const priceOf = (of: { reads: number; writes: number; signatures: number }): number =>
  (request + of.reads * units.read + of.writes * units.write + of.signatures * signature) * 1e6
