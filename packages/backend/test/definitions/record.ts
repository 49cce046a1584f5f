import { GROUPS } from './cases.ts'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const base='http://127.0.0.1:8192'
const only=process.argv[2]
const out: Record<string, unknown>={}
for (const [name, steps] of Object.entries(GROUPS)) {
  if (only && name!==only) continue
  execFileSync('bash',['/work/shared/parity/pocketbase-peer/pb-reset.sh'],{env:{...process.env,PB_BIN:'/tmp/pbrules/pocketbase',PB_WORK:'/tmp/pbD',PORT:'8192',PB_PRISTINE:'empty'}})
  const login=async()=>{const r=await fetch(base+'/api/collections/_superusers/auth-with-password',{method:'POST',headers:{'content-type':'application/json',connection:'close'},body:JSON.stringify({identity:'test@example.com',password:'1234567890'})});return ((await r.json()) as any).token}
  let token=await login()
  const answers: unknown[]=[]
  for (const [method,path,body] of steps) {
    const r=await fetch(base+path,{method,headers:{authorization:token,'content-type':'application/json',connection:'close'},body:body===undefined?undefined:JSON.stringify(body)})
    const t=await r.text(); let j: any=null; try{j=t===''?null:JSON.parse(t)}catch{j=t}
    if (r.status===401||r.status===403) console.log('AUTH', path, t)
    answers.push({status:r.status,body:j})
    console.log(name, method, path, JSON.stringify(body)?.slice(0,110), '->', r.status, t.slice(0,700).trim())
  }
  out[name]=answers
}
if(!only) writeFileSync('/tmp/wt/api/packages/backend/test/definitions/golden/answers.json', JSON.stringify(out,null,1)+'\n')
