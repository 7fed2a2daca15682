// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package estimates

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/tokens"
)

// unseen are kinds of text that are not among the nine that the weights were fitted to.
var unseen = map[string]string{
	"German":     "Der Ausschuss tagte im Frühjahr zweimal und verschob die schwierigste Frage jedes Mal auf einen anderen Tag. Wenn man das Mehl auf einmal hinzufügt, wird die Soße zu schnell dick und schmeckt nach Kleister. Der Quartalsumsatz stieg um elf Prozent, obwohl die Kosten in der nördlichen Region noch schneller wuchsen.",
	"French":     "Le comité s'est réuni deux fois au printemps et, chaque fois, il a remis la question la plus difficile à plus tard. Si l'on ajoute toute la farine d'un coup, la sauce épaissit trop vite. Le chiffre d'affaires trimestriel a progressé de onze pour cent, bien que les coûts aient augmenté encore plus vite au nord.",
	"Japanese":   "委員会は春に二度開かれましたが、最も難しい問題はどちらも先送りされました。小麦粉を一度に加えると、ソースはすぐに固まってしまいます。添付の報告書を三つの短い段落に要約し、未解決のリスクをすべて挙げてください。",
	"Korean":     "위원회는 봄에 두 번 모였지만 두 번 모두 가장 어려운 문제를 다음으로 미루었습니다. 밀가루를 한꺼번에 넣으면 소스가 너무 빨리 걸쭉해집니다. 첨부된 보고서를 짧은 세 단락으로 요약해 주세요.",
	"Hindi":      "समिति की वसंत में दो बार बैठक हुई और दोनों बार सबसे कठिन प्रश्न को किसी और दिन के लिए छोड़ दिया गया। कृपया संलग्न रिपोर्ट का तीन छोटे अनुच्छेदों में सारांश दें।",
	"Thai":       "คณะกรรมการประชุมกันสองครั้งในฤดูใบไม้ผลิ และทั้งสองครั้งก็เลื่อนคำถามที่ยากที่สุดออกไป กรุณาสรุปรายงานที่แนบมาเป็นสามย่อหน้าสั้น ๆ",
	"Arabic":     "اجتمعت اللجنة مرتين في الربيع وفي كل مرة أجلت أصعب سؤال إلى يوم آخر. يرجى تلخيص التقرير المرفق في ثلاث فقرات قصيرة.",
	"Vietnamese": "Ủy ban đã họp hai lần vào mùa xuân và cả hai lần đều để lại câu hỏi khó nhất cho một ngày khác. Vui lòng tóm tắt báo cáo đính kèm trong ba đoạn ngắn và liệt kê mọi rủi ro còn tồn tại.",
	"Polish":     "Komitet spotkał się wiosną dwukrotnie i za każdym razem odkładał najtrudniejsze pytanie na inny dzień. Proszę streścić załączony raport w trzech krótkich akapitach i wymienić wszystkie otwarte zagrożenia.",
	"Czech":      "Výbor se na jaře sešel dvakrát a pokaždé odložil nejtěžší otázku na jiný den. Shrňte prosím přiložený dokument do tří krátkých odstavců a uveďte všechna otevřená rizika.",
	"Turkish":    "Komite ilkbaharda iki kez toplandı ve her ikisinde de en zor soruyu başka bir güne bıraktı. Lütfen ekteki raporu üç kısa paragrafta özetleyin ve açık olan tüm riskleri sıralayın.",
	"Greek":      "Η επιτροπή συνεδρίασε δύο φορές την άνοιξη και κάθε φορά άφησε το δυσκολότερο ερώτημα για άλλη μέρα. Παρακαλώ συνοψίστε τη συνημμένη έκθεση σε τρεις σύντομες παραγράφους.",
	"Hebrew":     "הוועדה נפגשה פעמיים באביב ובשתי הפעמים השאירה את השאלה הקשה ביותר ליום אחר. נא לסכם את הדוח המצורף בשלוש פסקאות קצרות.",
	"Georgian":   "კომიტეტი გაზაფხულზე ორჯერ შეიკრიბა და ორივეჯერ ურთულესი კითხვა სხვა დღისთვის გადადო. გთხოვთ, შეაჯამოთ თანდართული ანგარიში სამ მოკლე აბზაცად.",
	"Khmer":      "គណៈកម្មាធិការបានជួបប្រជុំពីរដងនៅនិទាឃរដូវ ហើយទាំងពីរដងបានទុកសំណួរពិបាកបំផុតសម្រាប់ថ្ងៃផ្សេង។",
	"Tamil":      "குழு வசந்த காலத்தில் இரண்டு முறை கூடியது, இரண்டு முறையும் மிகக் கடினமான கேள்வியை வேறொரு நாளுக்கு ஒத்திவைத்தது.",
	"typography": "“It’s the reader’s time – not ours – that we spend…” he said — and ‘spent’ it: 3 × 4 ≈ 12 €, • one, • two, → next.",
	"HTML":       `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Orders</title><link rel="stylesheet" href="/static/app.3f9c1b.css"></head><body class="page page--wide"><table id="orders"><thead><tr><th scope="col">Number</th><th scope="col">Customer</th></tr></thead><tbody><tr data-id="4711"><td>4711</td><td><a href="/customers/17?tab=orders">Miller &amp; Sons</a></td></tr></tbody></table><script defer src="/static/app.77aa0e.js"></script></body></html>`,
	"SQL":        "SELECT c.id, c.name, COUNT(o.id) AS orders, SUM(o.total_cents) / 100.0 AS revenue FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id AND o.created_at >= DATE '2025-01-01' WHERE c.deleted_at IS NULL GROUP BY c.id, c.name HAVING SUM(o.total_cents) > 100000 ORDER BY revenue DESC NULLS LAST LIMIT 50;",
	"minified":   `!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?t(exports):(e=e||self).lib=t({})}(this,(function(e){var n=0,r=[],o=function(e,t){for(var i=e.length;i--;)t(e[i],i);return n+=e.length};e.each=o,e.reset=function(){n=0,r.length=0}}));`,
	"hex":        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752 fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13",
	"UUIDs":      "6f1c2c0e-8b7e-4a57-9c55-2f6a1f3f0f5d 0b9d7a44-5e0a-4a1e-8f2c-7c1e3f2b9a10 d2719a0b-3c4d-4e5f-9a6b-7c8d9e0f1a2b 13e4c6f8-0a1b-4c2d-8e3f-4a5b6c7d8e9f",
	"CSV":        "date,region,units,price,total\n2025-01-03,north,17,12.50,212.50\n2025-01-03,south,4,12.50,50.00\n2025-01-04,north,31,11.90,368.90\n2025-01-04,east,8,12.10,96.80\n2025-01-05,south,22,11.95,262.90\n",
	"TeX":        `\begin{align} \hat{\beta} &= (X^{\top} X)^{-1} X^{\top} y, \\ \operatorname{Var}(\hat{\beta}) &= \sigma^2 (X^{\top} X)^{-1}. \end{align} Let $f \colon \mathbb{R}^n \to \mathbb{R}$ be convex and $\nabla f$ Lipschitz with constant $L > 0$.`,
	"tool calls": `{"name":"search_orders","arguments":"{\"customer_id\":4711,\"status\":[\"open\",\"late\"],\"created_after\":\"2025-01-01T00:00:00Z\",\"limit\":20}"}`,
}

// TestUnseenKindsOfText: the weights hold, more loosely, for further kinds.
func TestUnseenKindsOfText(t *testing.T) {
	texts := map[string]string{}
	for name, text := range unseen {
		texts[name] = text
	}
	for name, path := range map[string]string{
		"Markdown": "docs/design/engine.md", "YAML": "config/crd/*.yaml", "checksums": "go.sum", "Makefile": "Makefile",
	} {
		found, err := filepath.Glob(filepath.Join("../../..", path))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", path, found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text[:min(len(text), 20_000)])
	}
	for name, text := range texts {
		want, got := float64(count(t, text)), tokens.Expected([]byte(text))
		byLength := float64(len(text)) * tokens.PerByte
		t.Logf("%-10s %5.0f tokens, expected %+.0f %%, by length %+.0f %%", name, want, 100*(got/want-1), 100*(byLength/want-1))
		if got < 0.6*want || got > 1.4*want {
			t.Errorf("%s: %.0f, expected %.0f", name, want, got)
		}
	}
}
