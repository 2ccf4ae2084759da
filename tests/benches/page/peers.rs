//! The pages that ours is compared with: a document with one word, and a single-page application of the usual size,
//! both from a server that has nothing else to do.

use std::fmt::Write as _;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use tokio::net::TcpListener;

/// The size of the script of such an application: frameworks, a component library, and its own code.
const SCRIPT_BYTES: usize = 1_450_000;
/// A document without a word is never said to have been painted.
const BLANK: &str = "<!doctype html><title>blank</title><p>blank</p>";
const APPLICATION: &str = "<!doctype html><title>application</title><link rel=stylesheet href=/app.css>\
    <div id=root></div><script type=module src=/app.js></script>";
const STYLE: &str = "body{font:16px sans-serif}.row{display:flex;padding:8px;border-bottom:1px solid #ddd}";
/// A browser that has seen the application keeps its script.
const KEPT: &str = "max-age=31536000, immutable";

/// The server of the peers. It serves until the measurement ends.
#[derive(Debug)]
pub(crate) struct Peers {
    origin: String,
    _runtime: tokio::runtime::Runtime,
}

impl Peers {
    /// Serves a blank page, and an application that draws so many rows.
    pub(crate) fn start(rows: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let router = router(script(), list(rows));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            origin,
            _runtime: runtime,
        }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn blank(&self) -> String {
        format!("{}/blank", self.origin)
    }

    pub(crate) fn application(&self) -> String {
        format!("{}/application", self.origin)
    }
}

fn router(script: String, rows: String) -> Router {
    let file = |kind: &'static str, cached: &'static str, body: String| {
        get(move || async move {
            (
                [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cached)],
                body,
            )
        })
    };
    Router::new()
        .route("/blank", file("text/html", "no-cache", BLANK.to_owned()))
        .route(
            "/application",
            file("text/html", "no-cache", APPLICATION.to_owned()),
        )
        .route("/app.css", file("text/css", KEPT, STYLE.to_owned()))
        .route("/app.js", file("text/javascript", KEPT, script))
        .route("/rows.json", file("application/json", "no-store", rows))
}

/// The state of the application: as many rows as there are agents in our inbox.
fn list(rows: usize) -> String {
    let rows: Vec<_> = (0..rows)
        .map(|number| serde_json::json!({ "name": format!("agent-{number}"), "text": format!("Question {number} of {rows}") }))
        .collect();
    serde_json::to_string(&rows).unwrap()
}

/// Writes an application as bundlers do: modules in functions that run one after the other when it starts, each with classes,
/// closures and tables, of which only a part is ever called. Then it reads its state and draws it.
fn script() -> String {
    let mut script = String::with_capacity(SCRIPT_BYTES + 4096);
    script.push_str("const modules=[],made=[];const use=(n)=>made[n]??=modules[n]();\n");
    let mut count = 0;
    while script.len() < SCRIPT_BYTES {
        write_module(&mut script, count);
        count += 1;
    }
    script.push_str(RENDER);
    script
}

fn write_module(script: &mut String, number: usize) {
    let before = number.saturating_sub(1);
    write!(
        script,
        r##"modules[{number}]=()=>{{const before={number}>0?use({before}):null;
class Component{number}{{constructor(props){{this.props=Object.assign({{}},defaults{number},props);this.state={{open:false,items:[],filter:"",page:{number}}};this.listeners=new Set()}}
setState(change){{const next={{...this.state,...change}};if(Object.keys(next).some((key)=>next[key]!==this.state[key])){{this.state=next;for(const run of this.listeners)run(next)}}}}
select(items,filter){{return items.filter((item)=>!filter||String(item.name).toLowerCase().includes(filter.toLowerCase())).map((item,index)=>({{...item,index,key:`row-{number}-${{item.id??index}}`}}))}}
describe(){{switch(this.state.page%4){{case 0:return `page ${{this.state.page}} of {number}`;case 1:return this.state.items.length?"some":"none";case 2:try{{return JSON.stringify(this.props)}}catch(error){{return error.message}}default:return ""}}}}}}
const defaults{number}={{theme:"light",size:{number},labels:{{save:"Save the changes of {number}",cancel:"Cancel",remove:"Remove this item",empty:"There is nothing here yet"}},colors:["#1f2937","#4b5563","#9ca3af","#d1d5db"]}};
const reduce{number}=(state={{total:0,seen:{{}}}},action)=>{{switch(action.type){{case"add/{number}":return{{...state,total:state.total+action.amount}};case"see/{number}":return{{...state,seen:{{...state.seen,[action.id]:true}}}};default:return state}}}};
function layout{number}(width,height){{let area=0;for(let at=0;at<8;at++){{area+=(width>>at)*(height>>at);if(area>1e6)break}}return{{area,ratio:height?width/height:0,isWide:width>height}}}}
const schema{number}=Object.freeze([["id","number"],["name","string"],["created_at","date"],["amount_{number}","decimal"]].map(([name,kind])=>Object.freeze({{name,kind,validate:(value)=>kind==="number"?Number.isFinite(value):typeof value==="string"}})));
const state=["add/{number}","see/{number}","other"].reduce((state,type)=>reduce{number}(state,{{type,amount:{number},id:"i{number}"}}),undefined);
return{{Component:Component{number},reduce:reduce{number},layout:layout{number},schema:schema{number},state,order:(before?.order??0)+1,box:layout{number}({number}+64,64)}}}};
"##
    )
    .unwrap();
}

const RENDER: &str = r#"
for(let n=0;n<modules.length;n++)use(n);
const mount=new (use(modules.length-1).Component)({});
mount.listeners.add((state)=>{const root=document.getElementById("root");root.replaceChildren(...mount.select(state.items,state.filter).map((item)=>{const row=document.createElement("div");row.className="row";const name=document.createElement("strong");name.textContent=item.name;const text=document.createElement("span");text.textContent=item.text;row.append(name,text);return row}))});
mount.setState({items:await(await fetch("/rows.json")).json()});
performance.mark("ready");
"#;
