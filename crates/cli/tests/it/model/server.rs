//! The server: it answers whatever agents ask by the script, and remembers what they asked.

use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::question::Protocol;
use super::tool;
use super::{Act, Question, Script, Trouble, anthropic, chat, exchange, gemini, responses};
use crate::harness::until;

/// A model that is being served. It is gone with this value.
pub(crate) struct Model {
    port: u16,
    inner: Arc<Inner>,
}

struct Inner {
    script: Script,
    asked: Mutex<Vec<Question>>,
    open: Mutex<Vec<TcpStream>>,
    over: Mutex<bool>,
}

impl Model {
    /// Serves a script on loopback, in the network namespace of the calling thread.
    pub(crate) fn serve(script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, open, over) = (Mutex::default(), Mutex::default(), Mutex::default());
        let inner = Arc::new(Inner { script, asked, open, over });
        let serving = Arc::clone(&inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if *serving.over.lock().unwrap() {
                    return;
                }
                serving.open.lock().unwrap().extend(stream.try_clone());
                let inner = Arc::clone(&serving);
                // An agent that is killed breaks its connections off.
                std::thread::spawn(move || {
                    let _ = inner.answer(&stream);
                    stream.shutdown(Shutdown::Both)
                });
            }
        });
        Self { port, inner }
    }

    /// Where it is served.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What was asked about the work so far, in its order.
    pub(crate) fn asked(&self) -> Vec<Question> {
        let asked = self.inner.asked.lock().unwrap();
        asked.iter().filter(|question| question.is_of_the_work()).cloned().collect()
    }

    /// Waits until this many questions about the work were asked.
    pub(crate) fn until_asked(&self, count: usize) {
        until("a question to the model", || (self.asked().len() >= count).then_some(()));
    }

    /// From now on no trouble is met.
    pub(crate) fn mend(&self) {
        self.inner.script.mend();
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        *self.inner.over.lock().unwrap() = true;
        for stream in self.inner.open.lock().unwrap().iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Inner {
    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        let Some(request) = exchange::read(stream)? else { return Ok(()) };
        let protocol = Protocol::at(&request.path).filter(|_| request.method == "POST");
        let Some(protocol) = protocol else {
            // Lists of models, counts of tokens and the like.
            return exchange::document(
                stream,
                &json!({"data": [], "models": [], "input_tokens": 1200}),
            );
        };
        let question = Question { protocol, path: request.path, body: request.body };
        self.asked.lock().unwrap().push(question.clone());
        let at = question.results().len();
        if let Some(trouble) = question.is_of_the_work().then(|| self.script.trouble(at)).flatten()
        {
            return meet(stream, &trouble, protocol);
        }
        let act = self.script.act(&question);
        let call = tool::call(act, &question);
        let said = match act {
            Act::Say(text) | Act::Await { say: text, .. } => *text,
            Act::Write { .. } | Act::Run(_) | Act::Call { .. } if call.is_some() => "",
            Act::Write { .. } | Act::Run(_) | Act::Call { .. } => "Harbour",
        };
        let model = &question.body["model"];
        let reply = match protocol {
            Protocol::Messages => anthropic::reply(model, said, call),
            Protocol::Responses => responses::reply(model, said, call),
            Protocol::Chat => chat::reply(model, said, call),
            Protocol::Contents => gemini::reply(said, call),
        };
        if question.streams() {
            exchange::stream(stream, &reply)
        } else {
            exchange::document(stream, &reply.whole)
        }
    }
}

fn meet(mut stream: &TcpStream, trouble: &Trouble, protocol: Protocol) -> std::io::Result<()> {
    if let Some(refusal) = trouble.refusal(protocol) {
        return exchange::refuse(&mut stream, &refusal);
    }
    // Until the agent hangs up, or the server is gone.
    stream.set_read_timeout(Some(Duration::from_mins(10)))?;
    stream.read(&mut [0; 1]).map(drop)
}
